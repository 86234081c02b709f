"""The error that the client raises: a refusal of the service, or why a call did not reach it."""
import re
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import httpx

from .model import Answer
from .operations import ErrorCode

LocalCode = Literal['network_error', 'timeout', 'unexpected_answer']
"""Codes of the client itself, after which it is not known whether the call had an effect. `unexpected_answer`:
something else answered, or a newer version of the service."""


@dataclass(eq=False)
class AccountError(Exception):
    """Error that every method raises."""

    operation: str
    code: ErrorCode | LocalCode
    message: str
    status: int = 0
    """Status of the HTTP answer; 0 if none came."""
    hint: str | None = None
    """Next step for an agent, in words."""
    retry_after_seconds: float | None = None
    request_id: str | None = None
    """Identifies the call to the operator of the service."""
    details: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.message


def read_answer(operation: str, answer: type[Answer], response: httpx.Response) -> Answer:
    """Returns what came with 200. Raises an AccountError for everything else."""
    told: dict[str, Any] = {}
    cause = None
    try:
        body = response.json()
        if response.status_code == 200:
            return answer.model_validate(body)
        told = body if isinstance(body, dict) else {}
    except ValueError as error:
        cause = error
    code, details = told.get('error'), told.get('details')
    wait = str(told.get('retry_after_seconds', response.headers.get('retry-after')))
    unread = 'this version of the client cannot read the answer. Check base_url, or update the client.'
    raise AccountError(
        operation,
        code if code in get_args(ErrorCode) else 'unexpected_answer',
        _string(told.get('message')) or f'Status {response.status_code}: {unread}',
        status=response.status_code,
        hint=_string(told.get('hint')),
        # Delay-seconds of RFC 9110, section 10.2.3. A date counts as no value.
        retry_after_seconds=float(wait) if re.fullmatch(r'[0-9]{1,9}(\.[0-9]+)?', wait) else None,
        request_id=_string(told.get('request_id') or response.headers.get('x-request-id')),
        details=details if isinstance(details, dict) else {},
    ) from cause


def _string(value: Any) -> str | None:
    return value if isinstance(value, str) else None
