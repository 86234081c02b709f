"""
A fetch that pays: it sends a request as any other, and where the answer is 402 Payment Required it has the
account pay once, within a maximum, and returns what was bought. Limits are those of the account.
"""
import base64
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal, get_args

import httpx

from .account_error import AccountError, LocalCode
from .operations import Operations, X402PaymentExecuteAnswer, X402PaymentExecuteAnswerResponse
from .operations import X402PaymentPrepareAnswer as Terms

PaymentProblem = Literal['dry_run', 'over_max', 'not_confirmed', 'not_paid', 'not_delivered', 'outcome_unknown']
"""Reason for which nothing was bought."""

SECRET_HEADERS = {'authorization', 'proxy-authorization', 'cookie'}
"""Headers that a purchase at another origin than the one that was asked first does not have."""


@dataclass(frozen=True)
class Asked:
    """Payment that the user or the owner has to confirm."""

    summary: str
    """Sentence for the user, such as "Pay 0.10 USDC to shop.example"."""
    amount_usd: str
    url: str | None
    """Page on which the owner decides; None where the user's word is enough."""
    terms: Terms


Confirm = Callable[[Asked], bool]


@dataclass(eq=False)
class PaymentError(Exception):
    """Error of a paid request; `attempt_id` continues it with x402_payment_execute, which pays once."""

    problem: PaymentProblem
    message: str
    terms: Terms
    answer: X402PaymentExecuteAnswer | None = None

    @property
    def attempt_id(self) -> str:
        return self.terms.attempt_id

    def __str__(self) -> str:
        return self.message


def attempt_of(response: httpx.Response) -> str | None:
    """
    Returns the attempt by which an answer was paid for; None for one that cost nothing.
    x402_payment_execute with it gives the answer again and pays nothing.
    """
    return response.extensions.get('attempt_id')


class PaidFetch(Operations):
    """The operations with a fetch that pays by them."""

    _http: httpx.Client

    def fetch(
        self,
        url: str,
        *,
        method: str = 'GET',
        max_usd: str | Decimal | None = None,
        confirm: Confirm | None = None,
        memo: str | None = None,
        dry_run: bool = False,
        timeout_seconds: float = 60,
        **options: Any,
    ) -> httpx.Response:
        """
        Sends a request; where it is answered 402, pays once and returns what was bought.

        max_usd: Most that this request may cost, such as "0.25" or a Decimal. Nothing is paid without it.
        confirm: Asks the user, where the account does not let the payment pass by itself. Returns True once
            the user has confirmed it, or the owner has approved it at `url`. Without it such a payment is refused.
        memo: Purpose, shown to the owner.
        dry_run: True to learn the terms and pay nothing: what costs something then raises `dry_run`.
        options: headers, params, content, data and json, as httpx takes them.
        """
        most = _read_amount('0' if max_usd is None else max_usd)
        request = self._http.build_request(method, url, timeout=timeout_seconds, **options)
        request.read()
        response = self._http.send(request, follow_redirects=True)
        if response.status_code != 402 or (max_usd is None and not dry_run):
            return response
        # A redirect may have changed the method.
        if response.history and request.method != 'GET':
            return response
        names = {*httpx.Headers(options.get('headers')), 'content-type'}
        order = _describe(request, response.request, names)
        terms = self.x402_payment_prepare(**order, **_challenge(response), memo=memo)
        if dry_run:
            raise PaymentError('dry_run', terms.summary, terms)
        return _pay(self, terms, _confirm(terms, most, confirm), response.request)


def _describe(asked: httpx.Request, sent: httpx.Request, names: set[str]) -> dict[str, Any]:
    """Describes the request that was sent last, after redirects, with those of its headers that have these names."""
    try:
        body = asked.content.decode()
    except UnicodeDecodeError as error:
        raise ValueError('The body of a paid request has to be text in UTF-8.') from error
    if (sent.url.scheme, sent.url.netloc) != (asked.url.scheme, asked.url.netloc):
        names = names - SECRET_HEADERS
    headers = {name: value for name, value in sent.headers.items() if name in names}
    return {'resource_url': str(sent.url), 'method': sent.method, 'headers': headers, 'body': body or None}


def _challenge(response: httpx.Response) -> dict[str, Any]:
    """Returns the challenge of the merchant, so that exactly what was answered is paid."""
    for header in ('payment-required', 'www-authenticate'):
        if header in response.headers:
            return {header.replace('-', '_'): response.headers[header]}
    try:
        body = response.json()
    except ValueError:
        return {}
    if not isinstance(body, dict) or 'accepts' not in body:
        return {}
    return {name: body[name] for name in ('accepts', 'x402Version') if name in body}


def _confirm(terms: Terms, most: Decimal, confirm: Confirm | None) -> bool | None:
    """Returns True if the user agreed, and None if nobody has to. Raises a PaymentError for a no."""
    amount = terms.terms.amount_usd
    if _read_amount(amount) > most:
        message = f'It costs {amount} USD, more than the maximum of {most:f} USD.'
        raise PaymentError('over_max', message, terms)
    if not terms.requires_user_confirm:
        return None
    confirmation = terms.confirmation
    is_agents = confirmation is None or confirmation.level == 'agent_asserted'
    asked = Asked(terms.summary, amount, None if is_agents else confirmation.url, terms)
    # Only True counts, because a coroutine that was not awaited would count as true.
    if confirm is not None and confirm(asked) is True:
        return True
    raise PaymentError('not_confirmed', f'It needs a confirmation: {terms.summary}', terms)


def _read_amount(value: Any) -> Decimal:
    text = f'{value:f}' if isinstance(value, Decimal) else value
    if isinstance(text, str) and re.fullmatch(r'[0-9]{1,18}(\.[0-9]{1,18})?', text):
        return Decimal(text)
    raise ValueError(f'{value!r} is not an amount such as "0.25" or Decimal("0.25").')


PROBLEMS: dict[str, PaymentProblem] = {
    'paid_not_delivered': 'not_delivered',
    'rejected_unpaid': 'not_paid',
    'unknown': 'outcome_unknown',
    'awaiting_confirmation': 'not_confirmed',
}


def _pay(account: Operations, terms: Terms, confirmed: bool | None, request: httpx.Request) -> httpx.Response:
    attempt = terms.attempt_id
    try:
        paid = account.x402_payment_execute(attempt_id=attempt, user_confirmed=confirmed)
    except AccountError as error:
        if error.status < 500 and error.code not in get_args(LocalCode):
            raise
        message = f'Whether it was paid is not known. Execute the attempt {attempt} again: it pays once.'
        raise PaymentError('outcome_unknown', message, terms) from error
    first = paid.response
    problem = PROBLEMS.get(paid.status)
    if problem is not None or first is None:
        reason = paid.reasons[0].message if paid.reasons else f'The payment is {paid.status}.'
        raise PaymentError(problem or 'not_delivered', paid.hint or reason, terms, paid)
    dropped = ('content-length', 'content-encoding', 'transfer-encoding')
    headers = {k: v for k, v in first.headers.items() if k.lower() not in dropped}
    content, marked = _read_pieces(account, terms, paid), {'attempt_id': attempt}
    return httpx.Response(first.status, headers=headers, content=content, request=request, extensions=marked)


def _read_pieces(account: Operations, terms: Terms, paid: X402PaymentExecuteAnswer) -> bytes:
    """Reads the whole answer of the merchant, of which the service sends one piece a call."""
    piece, read, attempt, cause = paid.response, b'', terms.attempt_id, None
    try:
        while piece is not None:
            read += _bytes_of(piece)
            if piece.next_piece is None:
                return read
            piece = account.x402_payment_execute(attempt_id=attempt, response_piece=piece.next_piece).response
    except AccountError as error:
        cause = error
    message = f'It is paid, but not read whole. Execute the attempt {attempt} to read it again.'
    raise PaymentError('not_delivered', message, terms, paid) from cause


def _bytes_of(piece: X402PaymentExecuteAnswerResponse) -> bytes:
    if piece.body_base64 is not None:
        return base64.b64decode(piece.body_base64)
    if 'body_json' in piece.model_fields_set:
        return json.dumps(piece.body_json, ensure_ascii=False, separators=(',', ':')).encode()
    return (piece.body or '').encode()
