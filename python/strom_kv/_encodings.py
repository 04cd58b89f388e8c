"""Python's names of PostgreSQL's encodings. The store has text as the database has it."""
from __future__ import annotations

from typing import NamedTuple

from .errors import Unsupported


class Encoding(NamedTuple):
    """For bytes.decode() and str.encode()."""

    name: str
    errors: str = "strict"

    def decode(self, stored: bytes) -> str:
        return stored.decode(self.name, self.errors)

    def encode(self, text: str) -> bytes:
        return text.encode(self.name, self.errors)


UTF8 = Encoding("utf-8")
_LATIN = {1: 1, 2: 2, 3: 3, 4: 4, 5: 9, 6: 10, 7: 13, 8: 14, 9: 15, 10: 16}  # the part of ISO 8859
_NAMES = {"UTF8": "utf-8", "EUC_CN": "gb2312", "EUC_JP": "euc_jp", "EUC_JIS_2004": "euc_jis_2004", "EUC_KR": "euc_kr", "KOI8R": "koi8_r",
          "KOI8U": "koi8_u", "WIN866": "cp866", "WIN874": "cp874",
          **{f"LATIN{number}": f"iso8859_{part}" for number, part in _LATIN.items()},
          **{f"ISO_8859_{part}": f"iso8859_{part}" for part in range(5, 9)},
          **{f"WIN{page}": f"cp{page}" for page in range(1250, 1259)}}


def encoding_of(name: str) -> Encoding:
    """`name`: of the setting server_encoding. Bytes of SQL_ASCII that are not UTF-8 become surrogates."""
    if name == "SQL_ASCII":
        return Encoding("utf-8", "surrogateescape")
    if name not in _NAMES:
        raise Unsupported(f"text of a database in the encoding {name} cannot be read here")
    return Encoding(_NAMES[name])
