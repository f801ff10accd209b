"""Every exception GraphGlass raises on purpose.

GlassError
├── InputError (ValueError)          the input cannot be used
│   ├── GraphError                     one graph or record is malformed
│   ├── FormatError                    a file is not in the format it claims
│   ├── LimitError                     an input is larger than the limits allow
│   ├── SchemaError                    attributes or columns do not fit what the model or reader expects
│   │   └── UnknownColumnsError          no known column of a table holds its graphs
│   └── ParameterError                 a setting has a value outside its range
├── MissingExtraError (ImportError)  an optional dependency is not installed; names the extra
├── DataError                        a named dataset is absent or does not match its checksum
├── EncoderError                     a text encoder cannot be loaded, reached, or returned unusable rows
├── NotFittedError                   a method that needs `fit` was called before it
├── ArtifactError                    a saved model is missing, altered, truncated or of another version
├── BenchError                       a benchmark request or results folder is inconsistent
├── PrivacyError                     a private release is refused
│   ├── BudgetError                    the ledger has too little budget left
│   └── LedgerError                    the ledger is damaged, tampered with or rolled back
├── ServeError                       the service is misconfigured
│   └── ModelConflictError             the model on disk is not the one that is served, or cannot be changed
└── ClusterError                     a scheduler or worker cannot do the work

Messages say what was expected, what was found and what to do.
"""

from collections.abc import Sequence
from typing import Any

from graphglass.messages import either, option_name


class GlassError(Exception):
    """Base of every GraphGlass exception."""

    def __reduce__(self) -> tuple[Any, ...]:
        # Workers send errors by pickle, which would call a constructor of several arguments with the message alone.
        return type(self).__new__, (type(self), *self.args), self.__dict__


class InputError(GlassError, ValueError):
    """The input cannot be used."""


class GraphError(InputError):
    """One graph or record is malformed."""


class FormatError(InputError):
    """A file is not in the format it claims."""


class LimitError(InputError):
    """An input is larger than the limits allow."""


class SchemaError(InputError):
    """Attributes or columns do not fit what the model or reader expects."""


class UnknownColumnsError(SchemaError):
    """No known column of a table holds its graphs; ``columns`` are those it has."""

    def __init__(self, message: str, columns: Sequence[str]) -> None:
        super().__init__(message, tuple(columns))
        self.columns = tuple(columns)

    def __str__(self) -> str:
        return str(self.args[0])


class ParameterError(InputError):
    """A setting has a value outside its range."""

    def __init__(self, owner: str, name: str, expected: str, found: object) -> None:
        option = f"--{option_name(name)} must be {expected}, found {found!r}."
        super().__init__(
            either(option, f"The '{name}' parameter of {owner} must be {expected}. Got {found!r} instead.")
        )


class MissingExtraError(GlassError, ImportError):
    """An optional dependency is not installed."""

    def __init__(self, capability: str, extra: str) -> None:
        super().__init__(
            f"{capability} needs an optional dependency that is not installed. "
            f"Install it with: pip install 'graphglass[{extra}]'"
        )


class DataError(GlassError):
    """A named dataset is absent or does not match its checksum."""


class EncoderError(GlassError):
    """A text encoder cannot be loaded, reached, or returned unusable rows."""


class NotFittedError(GlassError):
    """A method that needs `fit` was called before it."""


class ArtifactError(GlassError):
    """A saved model is missing, altered, truncated or of another version."""


class BenchError(GlassError):
    """A benchmark request or results folder is inconsistent."""


class PrivacyError(GlassError):
    """A private release is refused."""


class BudgetError(PrivacyError):
    """The ledger has too little budget left."""


class LedgerError(PrivacyError):
    """The ledger is damaged, tampered with or rolled back."""


class ServeError(GlassError):
    """The service is misconfigured."""


class ModelConflictError(ServeError):
    """The model on disk is not the one that is served, or cannot be changed; the message is for clients."""


class ClusterError(GlassError):
    """A scheduler or worker cannot do the work."""
