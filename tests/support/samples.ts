/**
 * For each operation, a request that its contract accepts, and a request of the right shape that the
 * operation itself refuses. Tests generated over all contracts start from these.
 */
import { requestSchema } from '../../shared/contract/documents/openapi.ts'
import type { Operation } from '../../shared/contract/operation.ts'
import { rightObject, schema } from './fuzz/values.ts'

export type Input = Record<string, unknown>

const someId = '0f8fad5b-d9cb-469f-a165-70867728950e'
const payee = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
/** Base Sepolia's USDC, as Circle publishes it. */
const offer = {
  scheme: 'exact',
  network: 'eip155:84532',
  asset: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
  amount: '10000',
  payTo: payee,
  maxTimeoutSeconds: 60,
  extra: { name: 'USDC', version: '2' },
}
const resource_url = 'https://www.example.com/data'
const transfer = { recipient: payee, chain: 'base-sepolia', token: 'USDC', amount: '1' }

const deposit = { operation: 'deposit', chain: 'base-sepolia', vault: payee, amount: '1' }

const mandate = {
  merchant_domain: 'www.example.com',
  max_amount_per_payment_usd: '5',
  ttl_seconds: 86_400,
}

const login = { site: 'www.example.com', username: 'me', password: 'a password of the tests' }
const use = {
  credential_id: someId,
  method: 'POST',
  path: '/login',
  inject: [{ where: 'form_field', name: 'password', secret: 'password' }],
}

/** Value of the form cookie; browsers send the same value in the body. */
const form = 'f0'.repeat(32)

/** Headers that browsers send and agents do not, where an operation requires them. */
const sentByBrowsers: Record<string, Record<string, string>> = {
  create_account: { origin: 'http://localhost', cookie: `__Host-aoa_form=${form}` },
}

/** Requests of operations that take more than their required fields, each by itself. */
const admitted: Record<string, Input> = {
  create_account: {
    registration: 'r'.repeat(43),
    alias: 'a-name',
    password: 'long enough, or not',
    form,
  },
  wallet_custodial_transfer: transfer,
  transfer_status: { transfer_id: someId },
  x402_payment_prepare: { resource_url, x402Version: 2, accepts: [offer] },
  x402_payment_execute: { attempt_id: someId, user_confirmed: true },
  payment_mandate_create: mandate,
  payment_mandate_status: { limit: '5' },
  defi_order_create: deposit,
  defi_orders_list: { limit: '5' },
  defi_order_events: { limit: '5' },
  wallet_activity_list: { limit: '5' },
  account_freeze: { reason: 'the key was seen in a log' },
  account_webhook_create: { url: resource_url },
  create_login_link: { action_type: 'deposit', token: 'USDC' },
  consent_receipt: { payment_id: someId },
  store_site_credentials: login,
  user_site_credentials: { credential_id: someId },
  vault_list: { limit: '5' },
  vault_store: login,
  vault_generate: { site: 'www.example.com' },
  vault_use: use,
  vault_login: { credential_id: someId, path: '/login' },
  vault_session: { session: someId, path: '/' },
  mail_list: { limit: '5' },
  mail_wait: { timeout_seconds: '0' },
  mail_send: { to: ['someone@example.com'], subject: 'Hello', text: 'A word.' },
}

const refused: Record<string, Input> = {
  wallet_balances: { chains: ['nowhere'] },
  resolve_transfer_recipient: { recipient: payee, chain: 'nowhere' },
  wallet_custodial_transfer: { ...transfer, chain: 'nowhere' },
  transfer_status: { transfer_id: someId, chain: 'nowhere' },
  defi_order_create: { ...deposit, chain: 'nowhere' },
  payment_mandate_create: { ...mandate, merchant_domain: 'github.io' },
  store_site_credentials: { ...login, site: 'ftp://www.example.com' },
  user_site_credentials: { site: 'ftp://www.example.com' },
  vault_list: { site: 'ftp://www.example.com' },
  vault_store: { ...login, site: 'ftp://www.example.com' },
  vault_generate: { site: 'ftp://www.example.com' },
  mail_send: { reply_to_mail_id: someId, text: 'A word.' },
  create_login_link: { action_type: 'website_login', site: 'http://www.example.com' },
  x402_payment_prepare: { resource_url: 'ftp://www.example.com/data' },
}

/** Returns the one request that reaches the handler: the listed one, or what its required fields need. */
export function sampleOf(contract: Operation): Input {
  const sample = admitted[contract.id] ?? requiredFieldsOf(contract)
  admitted[contract.id] = sample
  return sample
}

/** Returns the required fields with the first usual value of each. */
function requiredFieldsOf(contract: Operation): Input {
  const { properties = {}, required = [], ...rest } = schema.parse(requestSchema(contract))
  const needed = Object.entries(properties).filter(([name]) => required.includes(name))
  return rightObject(
    { ...rest, required, properties: Object.fromEntries(needed) },
    { random: { between: (low) => low }, seen: () => undefined },
  )
}

/** Returns a request that the handler refuses for its content, or the accepted one if there is none. */
export function refusedSampleOf(contract: Operation): Input {
  return refused[contract.id] ?? sampleOf(contract)
}

export type Shape = { name: string; path: string; init: RequestInit }

/** Returns a request of this operation with this input, without a token. */
export function shapeOf(contract: Operation, input: Input, name = 'a right request'): Shape {
  const path = `/${contract.folder}`
  if (contract.method === 'POST') {
    const init = json(JSON.stringify(input), sentByBrowsers[contract.id])
    return { name, path, init }
  }
  const query = new URLSearchParams()
  for (const [key, value] of Object.entries(input)) query.set(key, String(value))
  return { name, path: `${path}?${query.toString()}`, init: {} }
}

function json(body: string, headers: Record<string, string> = {}): RequestInit {
  return { method: 'POST', body, headers: { 'content-type': 'application/json', ...headers } }
}

/** Returns malformed requests, with the status that an authorized caller gets. */
export function wrongShapes(contract: Operation): (Shape & { status: number })[] {
  const wrongField = shapeOf(contract, { ...sampleOf(contract), ...wrongOf(contract) })
  const wrong = [{ ...wrongField, name: 'wrong fields', status: 400 }]
  if (contract.method === 'GET') return wrong
  const path = `/${contract.folder}`
  const text = { 'content-type': 'text/plain' }
  return [
    ...wrong,
    ...['{', '[]', 'null', '"text"', '{"a":1}}'].map((body) => ({
      name: `the body ${body}`,
      path,
      init: json(body),
      status: 400,
    })),
    { name: 'no media type', path, init: { method: 'POST', body: bytes('{}') }, status: 415 },
    { name: 'text', path, init: { method: 'POST', body: '{}', headers: text }, status: 415 },
    { name: 'a large body', path, init: json(`"${'x'.repeat(200_000)}"`), status: 413 },
    { name: 'a large body in chunks', path, init: chunked(200_000), status: 413 },
  ]
}

/** Returns a wrong field. Balances take any property, so only a known one can be wrong there. */
function wrongOf(contract: Operation): Input {
  return contract.id === 'wallet_balances' ? { chains: 'base' } : { surplus: 'x' }
}

/** Returns a body without a media type: fetch adds one to a string. */
function bytes(text: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(new TextEncoder().encode(text))
}

/** Returns a body of unknown length, whose size shows only while it is read. */
function chunked(length: number): RequestInit {
  const chunk = bytes(' '.repeat(1_000))
  let sent = 0
  const body = new ReadableStream({
    pull(controller) {
      if (sent >= length) return controller.close()
      sent += chunk.length
      controller.enqueue(chunk)
    },
  })
  // `duplex` is required with a stream and missing in the type (fetch standard, RequestInit).
  return Object.assign(json(''), { body, duplex: 'half' })
}
