"""Pays and buys by the Python client, and prints what happened. Its argument is the JSON of its settings."""
import json
import sys
from decimal import Decimal

import httpx
from agent_operating_account import Account, AccountError, PaymentError, attempt_of, pages
from agent_operating_account.operations import CheckAliasAnswer

settings = json.loads(sys.argv[1])
who = (settings['baseUrl'], settings['apiKey'], settings['deviceId'])
shop, order, other_order = settings['shop'], settings['order'], settings['otherOrder']


class Losing(httpx.HTTPTransport):
    """Network that loses the first answer, and may refuse whatever comes after it."""

    def __init__(self, refusal: httpx.Response | None = None) -> None:
        super().__init__()
        self.refusal = refusal
        self.keys: list[str] = []

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.keys.append(request.headers['idempotency-key'])
        if len(self.keys) > 1 and self.refusal:
            return self.refusal
        response = super().handle_request(request)
        if len(self.keys) > 1:
            return response
        response.read()
        raise httpx.ReadError('the answer is lost')


def refusal(call, *args, **request):
    """Returns what the call raised."""
    try:
        return call(*args, **request).status_code
    except PaymentError as error:
        return error.problem
    except AccountError as error:
        return [error.code, error.status, bool(error.request_id), 'idempotency_key' in (error.hint or '')]
    except ValueError as error:
        return str(error)


def yes(asked):
    summaries.append(asked.summary)
    return True


summaries = []
account, thrifty = Account(*who), Account(who[0], settings['thriftyKey'], who[2])
balance = account.wallet_balances(chains=['base-sepolia'])

asked = account.wallet_custodial_transfer(**order, idempotency_key='stored-before')
again = account.wallet_custodial_transfer(**order, idempotency_key='stored-before')
changed = {**order, 'amount': '6', 'idempotency_key': 'stored-before'}
mismatch = refusal(account.wallet_custodial_transfer, **changed)
losing = Losing()
confirmed = {**order, 'transfer_id': asked.transfer_id, 'user_confirmed': True}
sent = Account(*who, transport=losing).wallet_custodial_transfer(**confirmed)

wait = {'error': 'rate_limited', 'message': 'Wait.', 'retry_after_seconds': 99}
refusing = Losing(httpx.Response(429, json=wait))
unknown = refusal(Account(*who, transport=refusing).wallet_custodial_transfer, **other_order)
repeated = account.wallet_custodial_transfer(**other_order, idempotency_key=refusing.keys[0])

refused = [
    refusal(thrifty.fetch, shop),
    refusal(thrifty.fetch, shop, dry_run=True),
    refusal(thrifty.fetch, shop, max_usd='0.009999', confirm=yes),
    refusal(thrifty.fetch, shop, max_usd='1'),
    refusal(thrifty.fetch, shop, max_usd='1', confirm=lambda asked: False),
    refusal(thrifty.fetch, shop, max_usd=0.25, confirm=yes),
    refusal(thrifty.fetch, shop, max_usd='1', confirm=yes, method='POST', content=b'\xff'),
]
bought = account.fetch(shop, max_usd=Decimal('0.010'), confirm=yes, headers={'accept': '*/*'})
reread = account.x402_payment_execute(attempt_id=attempt_of(bought))
secrets = {'authorization': 'Bearer a', 'proxy-authorization': 'Basic b', 'cookie': 'a=b'}
headers = {**secrets, 'x-wanted': 'c'}
seen = thrifty.fetch(settings['redirect'], max_usd='0.01', confirm=yes, headers=headers).json()
later = {'alias': 'a', 'available': False, 'reason': 'new', 'suggestions': [], 'more': 1}

course = {
    'available': balance.available_usd,
    'transfers': [asked.status, again.transfer_id == asked.transfer_id, sent.status, repeated.status],
    'keys': [len(losing.keys), len(set(losing.keys)), len(refusing.keys)],
    'refusals': [mismatch, refusal(Account(who[0], 'aoa_test_x').get_identity), unknown],
    'refused': refused,
    'summaries': summaries,
    'bought': [bought.status_code, bought.json() == reread.response.body_json],
    'seen': {name: seen.get(name) for name in headers},
    'listed': sum(len(page.items) for page in pages(account.wallet_activity_list, limit='1')) > 1,
    'later': CheckAliasAnswer.model_validate(later).model_dump(exclude_unset=True) == later,
}
print(json.dumps(course))
