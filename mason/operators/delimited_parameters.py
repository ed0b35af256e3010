"""The parameters by which a user says how delimited files are written."""

from __future__ import annotations

from mason.engines.storage.models.delimited_options import DelimitedOptions
from mason.errors import BadInput
from mason.parameters.validated_parameters import ValidatedParameters


def read_delimited_options(parameters: ValidatedParameters) -> DelimitedOptions:
    """Return what the parameters say of delimited files.

    Raises:
        BadInput: a width is no number.
    """
    return DelimitedOptions(
        quote=parameters.get_optional("quote") or "",
        escape=parameters.get_optional("escape") or "",
        comment=parameters.get_optional("comment") or "",
        skip_rows=parameters.get_optional("skip_rows"),
        skip_footer=parameters.get_optional("skip_footer") or 0,
        widths=tuple(map(_width, parameters.get_optional("widths") or ())),
        ragged=parameters.get_optional("ragged") or "",
        sheet=parameters.get_optional("sheet") or "",
    )


def _width(text: object) -> int:
    try:
        return int(str(text))
    except ValueError:
        raise BadInput(f'widths: "{text}" is no number.', hint="Give one number for each field: 10,5,20.") from None
