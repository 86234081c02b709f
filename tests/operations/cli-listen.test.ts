/** `aoa listen` tells each event of the account once, whatever the network and the order of commits. */
import { createHmac } from 'node:crypto'
import type { Sql, TransactionSql } from 'postgres'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { run } from '../../scripts/cli/run.ts'
import { indexTransfers } from '../../shared/payments/deposits/index-transfers.ts'
import { newKey } from '../support/chain-world.ts'
import { payAs } from '../support/deposits.ts'
import { functionsIn } from '../support/functions.ts'
import { answering, serverThat } from '../support/http.ts'
import { acquainted, proven } from '../support/ledger.ts'
import { textWith } from '../support/matching.ts'
import { enterPayment } from '../support/payment-rows.ts'
import { type Agent, start, userAgent } from '../support/world.ts'

const world = await start({ chain: true })
const functions = functionsIn(world.world)
const baseUrl = 'https://account.example'
type Step = () => Promise<unknown>
const nothing: Step = () => Promise.resolve()

/** Listens. Each pause is a step of the test, and Ctrl-C comes after the last one. */
async function listen(
  { key }: Agent,
  words: string[],
  steps: Step[] = [],
  { env = {}, isAway = () => false }: { env?: object; isAway?: () => boolean } = {},
) {
  const ending = new AbortController()
  const [lines, said]: [string[], string[]] = [[], []]
  const pauses: number[] = []
  const code = await run(['listen', ...words], {
    env: { AOA_API_KEY: key, AOA_BASE_URL: baseUrl, AOA_DEVICE_ID: userAgent, ...env },
    fetch: (input, init) => {
      const request = new Request(input, init)
      const { origin, pathname } = new URL(request.url)
      if (origin !== baseUrl) return fetch(request)
      if (isAway()) return Promise.reject(new TypeError('fetch failed'))
      const found = functions.get(pathname.slice(1))
      return Promise.resolve(found?.fetch(request) ?? Response.error())
    },
    now: () => world.world.now().getTime(),
    pause: async (milliseconds) => {
      const step = steps[pauses.push(milliseconds) - 1]
      if (!step) ending.abort(new Error('stopped'))
      ending.signal.throwIfAborted()
      await step?.()
    },
    signal: ending.signal,
    screen: {
      isJson: words.includes('--json'),
      isInteractive: false,
      show: () => {},
      say: (line) => said.push(line),
      write: (bytes) => Promise.resolve(void lines.push(new TextDecoder().decode(bytes))),
      confirm: () => Promise.resolve(false),
    },
  })
  return { code, lines, said, pauses }
}

const eventSchema = z.strictObject({
  id: z.string(),
  type: z.string(),
  timestamp: z.iso.datetime(),
  data: z.looseObject({ activity_id: z.string(), status: z.string().optional() }),
})
const eventsIn = (lines: readonly string[]) =>
  lines.map((line) => eventSchema.parse(JSON.parse(line)))
const idsIn = (lines: readonly string[]) => eventsIn(lines).map(({ id }) => id)

async function happen(
  { id }: Agent,
  count: number,
  summary = 'It happened.',
  sql: Sql | TransactionSql = world.db.sql,
) {
  const rows = await sql<{ id: string }[]>`
    insert into private.activities (account, category, type, summary)
    select ${id}, 'account', 'noted', ${summary} from generate_series(1, ${count}) returning id::text`
  return rows.map((row) => row.id)
}

/** Enters a payment that waits for its owner, with two items. */
async function happenToPay(agent: Agent, nth: number) {
  const at = world.world.now()
  const payment = await enterPayment(world, agent, { nth, at, state: 'awaiting_confirmation' })
  const items = await world.db.sql<{ id: string }[]>`
    insert into private.activities (account, category, type, payment)
    select ${agent.id}, 'transfer', 'confirmation_requested', ${payment}
    from generate_series(1, 2) returning id::text`
  const decline = () =>
    world.db.sql`update private.payments set state = 'declined' where id = ${payment}`
  const [first = '', second = ''] = items.map(({ id }) => id)
  return { ids: [first, second], ended: `${second}_declined`, decline }
}

test('a transfer, its settlement and a deposit are told once each', async () => {
  const { payer, payee } = await acquainted(world)
  await indexTransfers(world.world)
  const order = { recipient: payee.alias, chain: 'base-sepolia', token: 'USDC', amount: '5' }
  let sent: unknown

  const { code, lines } = await listen(
    payer,
    ['--json'],
    [
      async () => {
        sent = (await payer.post('/wallet-custodial-transfer', order)).body['tx_hash']
      },
      () => proven(payer, sent),
      nothing,
      async () => {
        await payAs(world, newKey().at, payer.address, 5_250_000n)
        await indexTransfers(world.world)
      },
      nothing,
    ],
  )

  const events = eventsIn(lines)
  const [first = '', , last = ''] = events.map(({ data }) => data.activity_id)
  expect(code).toBe(130)
  expect(events.map(({ id, type, data: { status } }) => [id, type, status])).toEqual([
    [first, 'transfer.authorized', 'submitted'],
    [`${first}_settled`, 'transfer.settled', 'settled'],
    [last, 'deposit.received', 'included'],
  ])
})

test('the end of a payment is told once, by its newest item, however much came since', async () => {
  const agent = await world.agent('pay')
  const { ids, ended, decline } = await happenToPay(agent, 1)
  await world.tick(3600)
  await happen(agent, 120)
  await world.tick(3600)
  await happen(agent, 1)

  const { lines } = await listen(agent, ['--json'], [nothing, decline, nothing])
  const again = await listen(agent, ['--json', '--since', '3h', '--once', '--only', 'transfer'])

  expect(eventsIn(lines)).toMatchObject([{ id: ended, type: 'transfer.declined' }])
  expect(idsIn(again.lines)).toEqual([...ids, ended])
})

test('an item that becomes visible after younger ones is told', async () => {
  const agent = await world.agent('read')
  const [inserted, ending] = [Promise.withResolvers<string>(), Promise.withResolvers<void>()]
  let late: Promise<unknown> = Promise.resolve()
  const younger: string[] = []

  const { lines } = await listen(
    agent,
    ['--json'],
    [
      async () => {
        late = world.db.sql.begin(async (sql) => {
          const [id = ''] = await happen(agent, 1, 'Late.', sql)
          inserted.resolve(id)
          await ending.promise
        })
        await inserted.promise
        younger.push(...(await happen(agent, 1)))
      },
      async () => {
        await world.tick(240)
        younger.push(...(await happen(agent, 60)))
      },
      nothing,
      () => {
        ending.resolve()
        return late
      },
      nothing,
    ],
  )

  expect(idsIn(lines)).toEqual([...younger, await inserted.promise])
})

test('a network that fails in the middle and a service that asks to wait lose and repeat nothing', async () => {
  const agent = await world.agent('read')
  const ids = await happen(agent, 120)
  const bucket = world.db
    .sql`'key:' || (select id from private.credentials where account = ${agent.id})`
  let requests = 0
  const isAway = () => [2, 3].includes((requests += 1))

  const { lines, said, pauses } = await listen(
    agent,
    ['--json', '--since', '1h'],
    [
      nothing,
      async () => ids.push(...(await happen(agent, 2))),
      async () => {
        ids.push(...(await happen(agent, 3)))
        await world.db.sql`update private.rate_buckets
          set arrives_at = clock_timestamp() + interval '100 seconds' where bucket = ${bucket}`
      },
      () => world.db.sql`delete from private.rate_buckets where bucket = ${bucket}`,
    ],
    { isAway },
  )

  expect(idsIn(lines)).toEqual(ids)
  expect(pauses.toSpliced(3, 1)).toEqual([5000, 10_000, 5000, 5000])
  expect(pauses[3]).toBeGreaterThan(60_000)
  expect(said.filter((line) => line.includes('Trying again in'))).toHaveLength(3)
})

test('what was before is told when asked, and only the chosen kinds', async () => {
  const agent = await world.agent('pay')
  await happen(agent, 1)
  await world.tick(7200)
  const { ids, ended, decline } = await happenToPay(agent, 2)
  await decline()
  const [noted = ''] = await happen(agent, 1, 'Red \u001b[31m and \u202e back.')
  const old = ['--once', '--json', '--since']

  const all = await listen(agent, [...old, '1h'])
  const since = new Date(world.world.now().getTime() - 3_600_000).toISOString()
  const some = await listen(agent, [...old, since, '--only', 'account, transfer.declined'])
  const shown = await listen(agent, ['--once', '--since', '60m', '--only', 'account'])
  const none = await listen(agent, [])

  expect([all.code, idsIn(all.lines)]).toEqual([0, [...ids, noted, ended]])
  expect(idsIn(some.lines)).toEqual([noted, ended])
  expect(shown.lines).toEqual([expect.stringMatching(/Z {2}account\.noted +Red {2}?\[31m and/)])
  expect(shown.lines.join('').trimEnd()).not.toMatch(/[\p{Cc}\p{Cf}]/u)
  expect([none.lines, none.code]).toEqual([[], 130])
})

test('posts are signed, made again at most three times, and follow nobody elsewhere', async () => {
  const agent = await world.agent('read')
  const [refused = '', taken = ''] = await happen(agent, 2)
  const shop = await serverThat((response, received) =>
    received.headers['webhook-id'] === refused
      ? answering(307, { location: '/elsewhere' })(response, received)
      : answering(204)(response, received),
  )
  const AOA_WEBHOOK_SECRET = `whsec_${Buffer.alloc(24, 5).toString('base64')}`
  const words = ['--json', '--once', '--since', '1h', '--forward', `${shop.url}hook`]

  const given = await listen(agent, words, [nothing, nothing, nothing], {
    env: { AOA_WEBHOOK_SECRET },
  })
  const drawn = await listen(agent, words, [nothing, nothing, nothing])

  const ids = [refused, refused, refused, refused, taken]
  const secret = /whsec_\S+/.exec(drawn.said.join(' '))?.[0] ?? ''
  const secrets = [...ids.map(() => AOA_WEBHOOK_SECRET), ...ids.map(() => secret)]
  expect(shop.received.map(({ headers }) => headers['webhook-id'])).toEqual([...ids, ...ids])
  expect(new Set(shop.received.map(({ url }) => url))).toEqual(new Set(['/hook']))
  expect(shop.received.map(({ headers }) => headers['webhook-signature'])).toEqual(
    shop.received.map(({ headers, body }, at) => {
      const key = Buffer.from((secrets[at] ?? '').replace('whsec_', ''), 'base64')
      const signed = `${headers['webhook-id']?.toString()}.${seconds()}.${body.toString()}`
      return `v1,${createHmac('sha256', key).update(signed).digest('base64')}`
    }),
  )
  expect(shop.received.map(({ headers }) => headers['webhook-timestamp'])).toEqual(
    shop.received.map(() => seconds()),
  )
  const body: unknown = JSON.parse(shop.received.at(-1)?.body.toString() ?? '')
  expect(eventsIn(given.lines).at(-1)).toEqual({ id: taken, ...z.looseObject({}).parse(body) })
  expect([given.pauses, given.said]).toEqual([
    [1000, 2000, 4000],
    [0, 1, 2, 3].map(() => textWith('answered 307')),
  ])
})

const seconds = () => String(Math.floor(world.world.now().getTime() / 1000))

test.each([
  [['--once'], '--once needs --since'],
  [['--since', 'yesterday'], '--since takes a time'],
  [['--only', 'weather'], '--only takes transfer, deposit'],
  [['--every', '1'], 'from 2 to 300'],
  [['--forward', 'http://shop.example'], '--forward takes'],
  [['--forward', 'https://shop.example'], 'AOA_WEBHOOK_SECRET has to be'],
])('%j is refused in a sentence', async (words, sentence) => {
  const agent = await world.agent('read')

  const { code, said } = await listen(agent, words, [], {
    env: { AOA_WEBHOOK_SECRET: 'whsec_AAAA' },
  })

  expect([code, said]).toEqual([2, [textWith(sentence)]])
})
