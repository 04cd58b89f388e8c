"""What goes wrong between this package and the server."""


class StromError(Exception):
    """Base of the package's errors."""


class ExportError(StromError, ValueError):
    """An identifier that is none, or an export that does not fit what was asked of it."""


class ExportGone(StromError, LookupError):
    """The export has been dropped, its session has ended, or the server has restarted."""
