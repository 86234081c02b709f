/** The typed client covers every operation, and its types are those of the contracts. */
import { expect, expectTypeOf, test } from 'vitest'
import type * as z from 'zod'
import { contracts } from '../../functions/contracts.ts'
import type { getIdentity } from '../../functions/get-identity/contract.ts'
import type { walletBalances } from '../../functions/get-wallet-balances/contract.ts'
import type { mailRead } from '../../functions/mail-read/contract.ts'
import type { paymentMandateStatus as mandateStatus } from '../../functions/payment-mandate-status/contract.ts'
import type { transferStatus } from '../../functions/transfer-status/contract.ts'
import type { vaultUse } from '../../functions/vault-use/contract.ts'
import type { walletCustodialTransfer as transfer } from '../../functions/wallet-custodial-transfer/contract.ts'
import type { x402PaymentPrepare } from '../../functions/x402-payment-prepare/contract.ts'
import {
  type AccountClient,
  AccountError,
  createClient,
  type Operations,
} from '../../scripts/client/index.ts'
import { operations } from '../../scripts/client/operations.ts'
import { functionsIn } from '../support/functions.ts'
import { refusedSampleOf, sampleOf, shapeOf } from '../support/samples.ts'
import { start, userAgent } from '../support/world.ts'

/** World with a silent chain: port 9 discards everything (RFC 863). */
const world = await start({ rpcUrls: { 'eip155:84532': ['http://127.0.0.1:9'] } })
const functions = functionsIn(world.world)

/** Routes a request straight to its function, as the platform would. */
async function route(url: string, init: RequestInit): Promise<Response> {
  const found = functions.get(new URL(url).pathname.slice(1))
  if (!found) throw new Error(`no function is at ${url}`)
  return found.fetch(new Request(url, init))
}

type Method = (request: Record<string, unknown>) => Promise<Record<string, unknown>>
const method = (client: AccountClient, id: string): Method => {
  const found = Object.entries(operations).find(([, call]) => call.id === id)
  const called: unknown = found && Reflect.get(client, found[0])
  if (typeof called !== 'function') throw new Error(`the client has no method for ${id}`)
  return (request) => Promise.resolve(Reflect.apply(called, client, [request]))
}

test('there is one method for each operation', () => {
  const client = createClient({ baseUrl: 'https://account.example' })

  expect(Object.values(operations).map(({ id }) => id)).toEqual(contracts.map(({ id }) => id))
  expect(Object.keys(client)).toEqual([...Object.keys(operations), 'fetch'])
})

const callers = { plain: await world.agent('full'), vault: await world.agent('vault') }

function clientOf(key: string): AccountClient {
  const baseUrl = 'https://account.example'
  return createClient({
    baseUrl,
    apiKey: key,
    deviceId: userAgent,
    fetch: route,
    repetitionsMax: 0,
  })
}

test.each(contracts)('$id answers and refuses the client as it does anybody', async (contract) => {
  const { key } = contract.access === 'vault' ? callers.vault : callers.plain
  const client = clientOf(key)
  for (const sample of new Set([sampleOf(contract), refusedSampleOf(contract)])) {
    const { path, init } = shapeOf(contract, sample)
    const plain = { authorization: `Bearer ${key}`, 'x-device-id': userAgent }
    const headers = { ...Object.fromEntries(new Headers(init.headers)), ...plain }
    // A chain that an answer found silent is told about for some seconds, so it is forgotten before each.
    world.world.endpointHealth.clear()
    const straight = await world.send(path, { ...init, headers })
    world.world.endpointHealth.clear()
    const heard = await method(client, contract.id)(sample).catch((error: unknown) => error)

    // The client does not send what only a browser sends.
    if (contract.id === 'create_account') continue
    if (straight.status === 200) {
      expect(Object.keys(heard ?? {})).toEqual(Object.keys(straight.body))
    } else {
      expect(heard).toBeInstanceOf(AccountError)
      const { error, message } = straight.body
      expect(heard).toMatchObject({ code: error, status: straight.status, message })
    }
  }
})

/** Fields that the pipeline adds to an answer: the state of its capability. No handler's type has them. */
type Told = 'gap_id' | 'gap_status'
/** Type whose optional fields may be undefined, as in zod. */
type Loose<T> = T extends readonly (infer One)[]
  ? Loose<One>[]
  : T extends object
    ? { [K in keyof T]: Loose<T[K]> | (object extends Pick<T, K> ? undefined : never) }
    : T
type Answered<Id extends keyof Operations> = Loose<Omit<Operations[Id]['answer'], Told>>
type Asked<Id extends keyof Operations> = Loose<Operations[Id]['request']>
type Answer<C extends { response: z.ZodType }> = Loose<Omit<z.output<C['response']>, Told>>
type Request<C extends { request: z.ZodType }> = Loose<z.input<C['request']>>

test('the types of the client are those of the contracts', () => {
  // The compiler checks these assignments in both directions.
  expectTypeOf<Answered<'get_identity'>>().toExtend<Answer<typeof getIdentity>>()
  expectTypeOf<Answer<typeof getIdentity>>().toExtend<Answered<'get_identity'>>()
  expectTypeOf<Answered<'wallet_balances'>>().toExtend<Answer<typeof walletBalances>>()
  expectTypeOf<Answer<typeof walletBalances>>().toExtend<Answered<'wallet_balances'>>()
  expectTypeOf<Answered<'transfer_status'>>().toExtend<Answer<typeof transferStatus>>()
  expectTypeOf<Answer<typeof transferStatus>>().toExtend<Answered<'transfer_status'>>()
  expectTypeOf<Answered<'mail_read'>>().toExtend<Answer<typeof mailRead>>()
  expectTypeOf<Answer<typeof mailRead>>().toExtend<Answered<'mail_read'>>()
  expectTypeOf<Answered<'payment_mandate_status'>>().toExtend<Answer<typeof mandateStatus>>()
  expectTypeOf<Answer<typeof mandateStatus>>().toExtend<Answered<'payment_mandate_status'>>()
  expectTypeOf<Answered<'x402_payment_prepare'>>().toExtend<Answer<typeof x402PaymentPrepare>>()
  expectTypeOf<Answer<typeof x402PaymentPrepare>>().toExtend<Answered<'x402_payment_prepare'>>()
  expectTypeOf<Asked<'wallet_custodial_transfer'>>().toExtend<Request<typeof transfer>>()
  expectTypeOf<Request<typeof transfer>>().toExtend<Asked<'wallet_custodial_transfer'>>()
  expectTypeOf<Asked<'wallet_balances'>>().toExtend<Request<typeof walletBalances>>()
  expectTypeOf<Request<typeof walletBalances>>().toExtend<Asked<'wallet_balances'>>()
  expectTypeOf<Asked<'vault_use'>>().toExtend<Request<typeof vaultUse>>()
  expectTypeOf<Request<typeof vaultUse>>().toExtend<Asked<'vault_use'>>()
})
