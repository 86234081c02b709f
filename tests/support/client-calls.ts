/** Right and wrong calls of a program: compiled against the client, and never run. */
import {
  type AccountClient,
  createClient,
  type GetIdentityAnswer,
  isRefusal,
  pages,
  type Refusal,
} from '../../scripts/client/index.ts'

export async function rightCalls(account: AccountClient): Promise<string[]> {
  const { alias, limits } = await account.getIdentity()
  const given: string | undefined = undefined
  await account.mailList({ limit: '5', cursor: given }, { timeoutMilliseconds: 1_000 })
  await account.walletBalances({ chains: ['base'], more: 'is passed on' })
  await account.vaultUse({
    credential_id: alias,
    method: 'POST',
    json: { nested: [1, 'two', { three: null }] },
    inject: [{ where: 'bearer', secret: 'password' }],
  })
  const paid = await account.walletCustodialTransfer(
    { recipient: alias, chain: 'base', token: 'USDC', amount: '1' },
    { idempotencyKey: 'a-key', signal: AbortSignal.timeout(1) },
  )
  const hash: string | undefined = paid.tx_hash
  const seen: string[] = [limits.automatic_daily.left_usd, hash ?? '']
  for await (const { items } of pages(account.walletActivityList, { category: 'x402' })) {
    for (const { activity_id } of items) seen.push(activity_id)
  }
  for await (const { payments } of pages(account.paymentMandateStatement, { mandate_id: alias })) {
    for (const { payment_id } of payments) seen.push(payment_id)
  }
  return seen
}

/** Handles every code of one operation in a switch that leaves none over. */
export function next(error: unknown): string {
  if (!isRefusal(error, 'check_alias')) throw error
  const { code } = error
  switch (code) {
    case 'invalid_request':
    case 'method_not_allowed':
    case 'not_found':
    case 'internal_error':
    case 'unexpected_answer':
      return 'stop'
    case 'rate_limited':
    case 'unavailable':
    case 'network_error':
    case 'timeout':
      return 'wait'
    default:
      return code satisfies never
  }
}

export function wrongCalls(account: AccountClient, refused: Refusal<'get_identity'>): unknown[] {
  const order = { recipient: 'shop', chain: 'base', token: 'USDC', amount: '1' }
  const use = { credential_id: '', method: 'GET' } as const
  return [
    // @ts-expect-error the amount is a string, so that no digit is lost
    account.walletCustodialTransfer({ ...order, amount: 1 }),
    // @ts-expect-error this field does not exist
    account.walletCustodialTransfer({ ...order, ammount: '1' }),
    // @ts-expect-error a field is missing
    account.walletCustodialTransfer({ recipient: 'shop', chain: 'base', token: 'USDC' }),
    // @ts-expect-error the request is missing
    account.walletCustodialTransfer(),
    // @ts-expect-error the operation takes no fields
    account.accountExposure({ hours: '1' }),
    // @ts-expect-error this is not a kind of action
    account.createLoginLink({ action_type: 'logout' }),
    // @ts-expect-error this place for a secret needs a name
    account.vaultUse({ ...use, inject: [{ where: 'header', secret: 'password' }] }),
    // @ts-expect-error this operation does not exist
    'getSecrets' satisfies keyof AccountClient,
    // @ts-expect-error the answer does not have this field
    'password' satisfies keyof GetIdentityAnswer,
    // @ts-expect-error this operation never refuses with this code
    refused.code === 'limit_exceeded',
    // @ts-expect-error this operation has no pages
    pages(account.getIdentity, {}),
    // @ts-expect-error apiKey and token exclude each other
    createClient({ baseUrl: '', apiKey: '', token: () => '' }),
    // @ts-expect-error baseUrl is missing
    createClient({ apiKey: '' }),
  ]
}
