"""The parts that the generated operations are made of."""
from enum import Enum
from typing import Any, NamedTuple, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError, ValidatorFunctionWrapHandler, field_validator


class Model(BaseModel):
    """Answer, or an object in one. What a later version of the service says in addition is kept as it came."""

    # A field whose name is a word of Python ends with an underscore here.
    model_config = ConfigDict(extra='allow', alias_generator=lambda name: name.rstrip('_'))

    @field_validator('*', mode='wrap')
    @classmethod
    def _keep(cls, value: Any, validate: ValidatorFunctionWrapHandler) -> Any:
        # An answer to a payment must not be lost because of a status that this version does not know.
        try:
            return validate(value)
        except ValidationError:
            return value


Answer = TypeVar('Answer', bound=Model)


class Call(NamedTuple):
    """Operation: whether it takes an Idempotency-Key, and whether a repeat changes nothing more."""

    id: str
    method: str
    folder: str
    keyed: bool
    repeatable: bool


class Null(Enum):
    """The null of JSON. None leaves a field out."""

    NULL = None


NULL = Null.NULL
