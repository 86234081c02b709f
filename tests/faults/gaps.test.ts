/** A failure and its recovery are reported in time, measured with a clock that the test moves. */
import { beforeEach, expect, test } from 'vitest'
import * as z from 'zod'
import { contracts } from '../../functions/contracts.ts'
import { documents } from '../../functions/discovery/documents.ts'
import { discoveryFunction } from '../../functions/discovery/serve.ts'
import { type RpcProxy, startRpcProxy } from '../../scripts/local/chain/rpc-proxy.ts'
import type { GapId, GapStatus } from '../../shared/contract/gaps.ts'
import { readGaps } from '../../shared/health/read-gaps.ts'
import { watchHealth } from '../../shared/health/watch.ts'
import { deliverMail } from '../../shared/mail/deliver.ts'
import type { MailTransport } from '../../shared/mail/port.ts'
import { node } from '../support/faults/chain.ts'
import { forgetHealth } from '../support/health.ts'
import { requestCode } from '../support/sign-up.ts'
import { type Agent, start } from '../support/world.ts'

const started: RpcProxy[] = []
const tests = await start({
  chain: true,
  yield: true,
  endpoints: async (nodeUrl) => {
    started.push(await startRpcProxy({ nodeUrl }), await startRpcProxy({ nodeUrl }))
    return started.map(({ url }) => url)
  },
})
const { world } = tests
world.config.EUR_USD_RATE = '1.1'
world.config.WALLETCONNECT_PROJECT_ID = 'a-project'
const [agent, payee] = [await tests.agent('pay'), await tests.agent('read')]

const discovery = discoveryFunction({ contracts, documents }, () => world)
const states = z.array(z.looseObject({ gap_id: z.string(), status: z.string() }))
const described = z.looseObject({ 'x-gaps': states })

beforeEach(async () => {
  await forgetHealth(tests.db, world)
  await watch()
})

/** Runs one minute of the schedule and calls `onSecond` in each second of it. */
async function watch(onSecond: () => Promise<void> = async () => undefined): Promise<void> {
  const pause = async (milliseconds: number) => {
    for (let second = 0; second < milliseconds / 1000; second += 1) {
      await onSecond()
      await tests.tick(1)
    }
  }
  world.pause = pause
  await watchHealth(world, 4)
  await pause(15_000)
}

/** Returns the status of a gap by the identity, by an operation of the capability and by a document. */
async function told(gap: GapId, ask: (agent: Agent) => Promise<unknown>) {
  const identity = states.parse((await agent.get('/get-identity')).body['gaps'])
  const document = await discovery.fetch(new Request('http://aoa.example/openapi.json'))
  const data = described.parse(await document.json())['x-gaps']
  return [
    identity.find(({ gap_id }) => gap_id === gap)?.status,
    await ask(agent),
    data.find(({ gap_id }) => gap_id === gap)?.status,
  ]
}

/** Returns the seconds until all three show the status, when `change` happens right after a round began. */
async function secondsUntil(status: GapStatus, gap: GapId, path: string, change: () => unknown) {
  const answered = async (asking: Agent) => {
    const { body } = await (path === '/mail-list'
      ? asking.get(path)
      : asking.post(path, inputOf(path)))
    return body['gap_status'] ?? 'live'
  }
  let seconds = -1
  let found: number | undefined
  await watch(async () => {
    if (seconds === -1) await change()
    seconds += 1
    if (found !== undefined || seconds % 5 > 0) return
    const all = await told(gap, answered)
    if (all.every((one) => one === status)) found = seconds
  })
  return found ?? Number.POSITIVE_INFINITY
}

const inputOf = (path: string) =>
  path === '/resolve-transfer-recipient' ? { recipient: payee.alias } : {}

test('with everything well all that can be live is', async () => {
  const all = await readGaps(world)

  const lowered = all.filter(({ status }) => status !== 'live').map(({ gap_id }) => gap_id)
  expect(lowered).toEqual(['GAP_X402_V1', 'GAP_PAYMENT_MANDATE_V1', 'GAP_DEFI_AUTOMATION_V1'])
  expect(all.flatMap(({ reasons }) => reasons)).toEqual([])
})

test('a chain of which no endpoint answers is unavailable within a minute, and back within one', async () => {
  const ofChains = ['GAP_BALANCES_V1', '/get-wallet-balances'] as const

  const down = await secondsUntil('unavailable', ...ofChains, () => {
    for (const proxy of started) proxy.set([{ kind: 'drop' }])
  })
  const state = (await readGaps(world)).find(({ gap_id }) => gap_id === 'GAP_TRANSFER_V1')
  const up = await secondsUntil('live', ...ofChains, () => {
    for (const proxy of started) proxy.set([])
  })

  expect(state?.chains).toMatchObject([
    { chain: 'eip155:84532', status: 'unavailable', reasons: ['endpoints_unreachable'] },
  ])
  expect(Math.max(down, up)).toBeLessThan(60)
})

test('a chain that one operator alone tells of says so, and what is paid there is live with exceptions', async () => {
  const { chainRpcUrls } = world.config
  const [only] = started
  const alone = { [tests.chain.network]: [only?.url ?? ''] }
  const paying = ['GAP_TRANSFER_V1', '/resolve-transfer-recipient'] as const

  const down = await secondsUntil('partial_live', ...paying, () =>
    Object.assign(world.config, { chainRpcUrls: alone }),
  )
  const state = (await readGaps(world)).filter(({ reasons }) =>
    reasons.includes('second_operator_missing'),
  )
  const up = await secondsUntil('live', ...paying, () =>
    Object.assign(world.config, { chainRpcUrls }),
  )

  expect(state.map(({ gap_id }) => gap_id)).toEqual(['GAP_X402_V1', 'GAP_TRANSFER_V1'])
  expect(Math.max(down, up)).toBeLessThan(60)
})

test('relayers that ran out of gas lower transfers within a minute, and no balance', async () => {
  const [{ address } = { address: '' }] = await tests.db.sql`
    select address from private.gas_payers where kind = 'relayer'`
  const ofGasPayers = ['GAP_TRANSFER_V1', '/resolve-transfer-recipient'] as const
  const gas = (wei: string) => () => node(tests, 'anvil_setBalance', address, wei)

  const down = await secondsUntil('partial_live', ...ofGasPayers, gas('0x0'))
  const balances = (await readGaps(world)).find(({ gap_id }) => gap_id === 'GAP_BALANCES_V1')
  const up = await secondsUntil('live', ...ofGasPayers, gas('0x56bc75e2d63100000'))

  expect(balances?.status).toBe('live')
  expect(Math.max(down, up)).toBeLessThan(60)
})

test('without custody nothing can be paid, and that is told within a minute', async () => {
  const { custody } = world
  const paying = ['GAP_TRANSFER_V1', '/resolve-transfer-recipient'] as const

  const down = await secondsUntil('unavailable', ...paying, () => delete world.custody)
  const up = await secondsUntil(
    'live',
    ...paying,
    () => custody && Object.assign(world, { custody }),
  )

  expect(Math.max(down, up)).toBeLessThan(60)
})

test('without the vault mail and logins are unavailable, and what needs it is refused with that', async () => {
  const { vault } = world
  delete world.vault
  await watch()

  const refused = await agent.get('/mail-list')
  const all = await readGaps(world)
  Object.assign(world, { vault })

  const details = { gap_id: 'GAP_MAIL_V1', gap_status: 'unavailable' }
  expect(refused).toMatchObject({ status: 503, body: { error: 'unavailable', details } })
  const unavailable = all.filter(({ status }) => status === 'unavailable')
  expect(unavailable.map(({ gap_id }) => gap_id)).toEqual(['GAP_VAULT_V1', 'GAP_MAIL_V1'])
})

test('a mail server that is down lowers mail at once, and the first mail it takes raises it', async () => {
  const ofMail = ['GAP_MAIL_V1', '/mail-list'] as const
  const email = 'ada@people.example'
  const broken: MailTransport = () => Promise.reject(new Error('connection refused'))

  const down = await secondsUntil('partial_live', ...ofMail, async () => {
    await requestCode(tests, email)
    await deliverMail(world, broken)
  })
  const up = await secondsUntil('live', ...ofMail, async () => {
    await tests.tick(3_600)
    await tests.mails(email)
  })

  expect(Math.max(down, up)).toBeLessThan(60)
})

test('a mail that nobody tries to send tells within a minute that no mailer runs', async () => {
  const ofMail = ['GAP_MAIL_V1', '/mail-list'] as const

  const down = await secondsUntil('partial_live', ...ofMail, () =>
    requestCode(tests, 'bea@people.example'),
  )
  const up = await secondsUntil('live', ...ofMail, () => tests.mails('bea@people.example'))

  expect(Math.max(down, up)).toBeLessThan(60)
})

test('while nobody looks nothing is called live', async () => {
  await tests.tick(91)

  const all = await readGaps(world)

  expect(new Set(all.map(({ status }) => status))).toEqual(new Set(['partial_live']))
  expect(all.every(({ reasons }) => reasons.includes('health_not_watched'))).toBe(true)
})

test('an endpoint that this isolate has just missed counts before the next look', async () => {
  for (const proxy of started) proxy.set([{ kind: 'drop' }])
  const order = { chain: 'base-sepolia', token: 'USDC', amount: '1', recipient: payee.alias }

  const refused = await agent.post('/wallet-custodial-transfer', order)
  for (const proxy of started) proxy.set([])

  const details = { gap_id: 'GAP_TRANSFER_V1', gap_status: 'unavailable' }
  expect(refused).toMatchObject({ status: 503, body: { error: 'unavailable', details } })
})

test('without the database everything is unavailable', async () => {
  await tests.tick(10)
  await tests.db.stopGateway()

  const all = await readGaps(world)

  expect(new Set(all.map(({ status }) => status))).toEqual(new Set(['unavailable']))
})
