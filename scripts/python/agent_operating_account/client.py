"""
The typed client of an Agent Operating Account: one method for each operation, and a fetch that pays.

A call is repeated if the service says that nothing was changed. After a lost answer it is repeated only if a
repetition cannot have a second effect: the operation changes nothing, or nothing more, or it has an
Idempotency-Key, which all repetitions share.
"""
import json
import random
import re
import time
import uuid
from collections.abc import Callable, Iterator
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any, get_args

import httpx

from .account_error import AccountError, LocalCode, read_answer
from .model import NULL, Answer, Call
from .operations import OPERATIONS
from .paid_fetch import PaidFetch

FIRST_PAUSE_SECONDS = 0.25


class Account(PaidFetch):
    """
    An account at a service. It keeps nothing between calls but connections, and may be shared by threads.

    base_url: Such as https://account.example; http only on this machine.
    api_key, token: The credential, or a function that returns the access token of the moment.
    device_id: Name of this program. Use the same one each time: payments from an unknown device ask for a
        confirmation.
    timeout_seconds: Time for a call with its repetitions. It bounds each wait for the network.
    transport: Replacement for the network.
    """

    def __init__(
        self,
        base_url: str,
        api_key: str | None = None,
        device_id: str | None = None,
        *,
        token: Callable[[], str] | None = None,
        timeout_seconds: float = 60,
        repetitions_max: int = 3,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self._base_url = _read_base_url(base_url)
        self._token = token or (lambda: api_key)
        self._device_id = device_id
        self._timeout_seconds = timeout_seconds
        self._repetitions_max = repetitions_max
        # Cookies of a shop must not reach a later request. Following a redirect would carry the token elsewhere.
        no_cookies = CookieJar(DefaultCookiePolicy(allowed_domains=[]))
        self._http = httpx.Client(transport=transport, cookies=no_cookies, follow_redirects=False)

    def close(self) -> None:
        """Closes the connections."""
        self._http.close()

    def _call(
        self, operation: str, answer: type[Answer], fields: dict[str, Any], idempotency_key: str | None = None
    ) -> Answer:
        call = OPERATIONS[operation]
        key = str(uuid.uuid4()) if call.keyed and idempotency_key is None else idempotency_key
        given = {k: None if v is NULL else v for k, v in fields.items() if v is not None}
        ends_at = time.monotonic() + self._timeout_seconds
        repetitions, lost = 0, None
        while True:
            try:
                return self._ask(call, answer, given, key, ends_at)
            except AccountError as error:
                if call.keyed and error.code in get_args(LocalCode):
                    error.hint = f'It has one effect if you call again with idempotency_key={key!r}.'
                    lost = error
                pause = self._pause_before(repetitions, error, call, ends_at)
                if pause is None:
                    # However a repetition is refused, the call whose answer was lost may have had its effect.
                    raise lost or error
            time.sleep(pause)
            repetitions += 1

    def _ask(
        self, call: Call, answer: type[Answer], fields: dict[str, Any], key: str | None, ends_at: float
    ) -> Answer:
        texts = {k: v if isinstance(v, str) else json.dumps(v) for k, v in fields.items()}
        given: dict[str, Any] = {'params': texts} if call.method == 'GET' else {'json': fields}
        url, headers = f'{self._base_url}/{call.folder}', self._headers(key)
        left = max(ends_at - time.monotonic(), 0.001)
        try:
            response = self._http.request(call.method, url, headers=headers, timeout=left, **given)
        except httpx.HTTPError as error:
            code: LocalCode = 'timeout' if isinstance(error, httpx.TimeoutException) else 'network_error'
            message = 'The service was not reached, or its answer was lost or late.'
            raise AccountError(call.id, code, message) from error
        return read_answer(call.id, answer, response)

    def _headers(self, key: str | None) -> dict[str, str]:
        token = self._token()
        headers = {
            'accept': 'application/json',
            # Without a version, because the service recognizes a device by it if no other name is given.
            'user-agent': 'agent-operating-account-python',
            'authorization': None if token is None else f'Bearer {_read_token(token)}',
            'x-device-id': self._device_id,
            'idempotency-key': key,
        }
        return {name: value for name, value in headers.items() if value is not None}

    def _pause_before(
        self, repetitions: int, error: AccountError, call: Call, ends_at: float
    ) -> float | None:
        """Returns the seconds before a repetition; None if the call must not or cannot be repeated."""
        is_unchanged = error.code in ('rate_limited', 'unavailable', 'conflict')
        is_of_a_proxy = error.code == 'unexpected_answer' and error.status in (429, 502, 503, 504)
        is_lost = error.code == 'network_error' or is_of_a_proxy
        if repetitions >= self._repetitions_max or not (is_unchanged or (is_lost and call.repeatable)):
            return None
        # Between half of it and all of it, so that clients that failed together do not come back together.
        grown = FIRST_PAUSE_SECONDS * 2**repetitions * (0.5 + random.random() / 2)
        asked = grown if error.retry_after_seconds is None else error.retry_after_seconds
        return asked if time.monotonic() + asked < ends_at else None


def pages(method: Callable[..., Answer], **request: Any) -> Iterator[Answer]:
    """Yields all pages of a list and makes one call for each page that is read."""
    while True:
        page: Any = method(**request)
        yield page
        if page.next_cursor is None:
            return
        request['cursor'] = page.next_cursor


def _read_base_url(text: str) -> str:
    url = httpx.URL(text)
    is_here = re.fullmatch(r'localhost|.+\.localhost|127(\.\d+){3}|::1', url.host) is not None
    if url.host and (url.scheme == 'https' or (url.scheme == 'http' and is_here)):
        return text.rstrip('/')
    raise ValueError('base_url has to begin with https://; http:// is for this machine alone.')


def _read_token(token: str) -> str:
    """Checks the token here, because an error about a bad header would show it in logs."""
    if re.fullmatch(r'[\x21-\x7e]+', token):
        return token
    raise ValueError('The token has characters that no token has: a line break at its end, perhaps.')
