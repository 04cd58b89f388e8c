"""The errors of this package."""


class StromError(Exception):
    """Base of the package's errors."""


class ExportError(StromError, ValueError):
    """An invalid identifier, or an export that does not support the request."""


class ExportGone(StromError, LookupError):
    """The export has been dropped, its session has ended, or the server has restarted."""
