/** The tools of the client take the fields of their operations, and confirm only what a person agreed to. */
import { expect, test } from 'vitest'
import * as z from 'zod'
import { contracts } from '../../functions/contracts.ts'
import { createClient } from '../../scripts/client/index.ts'
import {
  type AccountTool,
  callTool,
  chooseTools,
  type ToolInput,
} from '../../scripts/client/tools.ts'
import { requestSchema } from '../../shared/contract/documents/openapi.ts'
import { answering, serverThat } from '../support/http.ts'

const transfer = { recipient: 'shop', amount: '5', user_confirmed: true }
const continued = { ...transfer, transfer_id: '6d995e8a-3f2a-42b2-b4ad-d584bb0aebc4' }

/** Calls a tool of an account that gives this answer; returns what was sent and answered. */
async function call(
  name: AccountTool['name'],
  input: ToolInput,
  { isAgreed = true, status = 200, answer = {} as object } = {},
) {
  const service = await serverThat(answering(status, {}, JSON.stringify(answer)))
  const account = createClient({ baseUrl: service.url, apiKey: 'a-key' })
  const [tool] = chooseTools({ only: [name] })
  if (!tool) throw new Error(`no tool ${name}`)
  const answered = await callTool(account, tool, input, { isAgreed })
  const sent: unknown = JSON.parse(String(service.received[0]?.body))
  return { sent, answered }
}

test.each(chooseTools())('$name takes the fields of its operation', (tool) => {
  const contract = contracts.find(({ id }) => id === tool.name)
  const { properties = {}, required } = contract ? requestSchema(contract) : {}

  // A confirmation belongs to a call that names the payment whose terms were shown.
  const fields = Object.keys(properties).filter(
    (field) => field !== 'user_confirmed' || tool.continuing !== undefined,
  )
  expect(Object.keys(tool.inputSchema.properties)).toEqual(fields)
  expect(tool.inputSchema.required).toEqual(required)
})

test('every operation of an agent is a tool, except those that take a secret', () => {
  const names: string[] = chooseTools().map(({ name }) => name)
  const left = contracts.flatMap(({ id }) => (names.includes(id) ? [] : [id]))

  expect(left).toEqual([
    'check_alias',
    'request_signup_verification',
    'confirm_registration_code',
    'create_account',
    'account_webhook_create',
    'account_webhook_list',
    'account_webhook_delete',
    'account_webhook_replay',
    'store_site_credentials',
    'vault_store',
  ])
})

test('a confirmation is sent only for a payment whose terms a person agreed to', async () => {
  const { user_confirmed: _, ...unconfirmed } = continued
  const name = 'wallet_custodial_transfer'

  expect((await call(name, continued)).sent).toEqual(continued)
  expect((await call(name, continued, { isAgreed: false })).sent).toEqual(unconfirmed)
  expect((await call(name, transfer)).sent).toEqual({ recipient: 'shop', amount: '5' })
  expect((await call(name, unconfirmed)).sent).toEqual(unconfirmed)
  expect((await call('defi_order_create', continued)).sent).toEqual(unconfirmed)
})

test('the confirming call is to be made at once, because the framework asks before it', async () => {
  const next = { tool: 'wallet_custodial_transfer', arguments: continued, when: 'Later.' }

  const { answered } = await call('wallet_custodial_transfer', transfer, { answer: { next } })

  const shown = z.object({ next: z.object({ when: z.string() }) }).parse(answered)
  expect(shown.next.when).toBe('Now. Your user is asked before it is paid.')
})

test('a refusal is an answer with its code, sentence and hint', async () => {
  const refusal = { error: 'limit_exceeded', message: 'Too much.', hint: 'Pay less.' }

  const { answered } = await call('wallet_custodial_transfer', transfer, {
    status: 403,
    answer: refusal,
  })

  expect(answered).toEqual(refusal)
})

type Call = { input?: ToolInput; callName?: string; status?: number }

/** Calls in turn, and the service answers with this status, or not at all for 0; returns the keys that it got. */
async function keysOf(calls: Call[]) {
  const service = await serverThat((response) => {
    const { status = 200 } = calls[service.received.length - 1] ?? {}
    if (status === 0) response.destroy()
    else response.writeHead(status, { 'content-type': 'application/json' }).end('{}')
  })
  const account = createClient({ baseUrl: service.url, apiKey: 'a-key', repetitionsMax: 0 })
  const [tool] = chooseTools({ only: ['wallet_custodial_transfer'] })
  if (!tool) throw new Error('no tool')
  const notes: boolean[] = []
  for (const { input = transfer, callName } of calls) {
    const answer = await callTool(account, tool, input, { isAgreed: false, callName })
    notes.push('note' in answer)
  }
  return { keys: service.received.map(({ headers }) => headers['idempotency-key']), notes }
}

test('a call that the framework makes again has its key, and no other call has it', async () => {
  const [one, other] = ['task-1 call-1', 'task-1 call-2']
  const dearer = { ...transfer, amount: '6' }

  const { keys } = await keysOf([
    { callName: one },
    { callName: one },
    { callName: other },
    { callName: one, input: dearer },
    {},
    {},
  ])

  expect(keys[1]).toBe(keys[0])
  expect(new Set(keys).size).toBe(5)
})

test('an order whose answer was lost is repeated with its key until it is answered, and that is said', async () => {
  const { keys, notes } = await keysOf([{ status: 0 }, { status: 429 }, { status: 401 }, {}, {}])

  expect(new Set(keys.slice(0, 4)).size).toBe(1)
  expect(keys[4]).not.toBe(keys[0])
  expect(notes).toEqual([false, false, false, true, false])
})

test('the framework may make the repetition of a lost order again', async () => {
  const { keys } = await keysOf([
    { callName: 'task-1 call-1', status: 0 },
    { callName: 'task-2 call-2' },
    { callName: 'task-2 call-2' },
    { callName: 'task-3 call-3' },
  ])

  expect([keys[1], keys[2]]).toEqual([keys[0], keys[0]])
  expect(keys[3]).not.toBe(keys[0])
})

test('a name that no tool has is refused by name', () => {
  const only: readonly string[] = ['vault_store']

  expect(() => chooseTools({ only: only as AccountTool['name'][] })).toThrow('no tool vault_store')
})
