/** Mails of one account that arrive at once are kept correctly in every order of the steps. */
import { createHash } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { randomUUID } from '../support/seed.ts'
import { openSession, orders, type Session, stepThrough } from '../support/sessions.ts'
import { start, type TestWorld } from '../support/world.ts'

let world: TestWorld
let sessions: [Session, Session, Session]
beforeAll(async () => {
  world = await start()
  const open = () => openSession(world.db)
  sessions = [await open(), await open(), await open()]
})

const everyOrder = orders(
  new Map([
    [0, 2],
    [1, 2],
    [2, 1],
  ]),
).map((order) => ({ order, name: order.map((who) => 'abr'[who]).join(' ') }))

/** Keeps one mail in each of two sessions while a third one reads. Returns every answer. */
async function race(order: readonly number[], [a, b, read]: readonly [string, string, string]) {
  const [one, other, reader] = sessions
  const stepsOf = new Map([
    [one, [['begin', a], ['commit']]],
    [other, [['begin', b], ['commit']]],
    [reader, [[read]]],
  ])
  const taken = order.flatMap((who) => sessions[who] ?? [])
  await stepThrough(world.db.sql, taken, stepsOf)
  const outcomes = [...(await one.answers()), ...(await other.answers())]
  return { outcomes: outcomes.map(({ outcome }) => String(outcome)), seen: await reader.answers() }
}

function keep(alias: string, name: string): string {
  const digest = createHash('sha256').update(name).digest('hex')
  const mail = { from_address: 'a@mail.example', spf: 'none', dkim: 'none', dmarc: 'none', size: 1 }
  const row = { ...mail, id: randomUUID(), digest, sealed_head: {}, sealed_body: {} }
  return `select outcome from api.inbound_keep('${alias}', '${JSON.stringify(row)}', false, '[]', '[]')`
}

const numbersIn = (account: string) => `select coalesce(array_agg(number::integer order by number),
  '{}') as numbers from private.mails where account = '${account}' and size = 1`
const numbers = z.object({ numbers: z.array(z.int()) })

describe.each(everyOrder)('in the order $name', ({ order }) => {
  test('both mails are kept, and who reads on from the last one misses none', async () => {
    const { alias, id } = await world.agent('read')
    const read = numbersIn(id)

    const { outcomes, seen } = await race(order, [keep(alias, 'a'), keep(alias, 'b'), read])

    const [all] = z.array(numbers).parse(await world.db.sql.unsafe(read))
    expect(outcomes).toEqual(['kept', 'kept'])
    for (const { numbers: some } of z.array(numbers).parse(seen)) {
      expect(some).toEqual(all?.numbers.slice(0, some.length))
    }
  })

  test('the last place is given to one of them', async () => {
    const { alias, id } = await world.agent('read')
    await world.db.sql`insert into private.mails (id, account, direction, from_address, digest,
        size, room, sealed_head, sealed_body)
      select gen_random_uuid(), ${id}, 'in', 'a@mail.example',
        encode(sha256(n::text::bytea), 'hex'), 2, 2, '{}', '{}' from generate_series(1, 59) n`

    const { outcomes } = await race(order, [keep(alias, 'a'), keep(alias, 'b'), numbersIn(id)])

    expect(new Set(outcomes)).toEqual(new Set(['kept', 'too_many']))
  })

  test('the same mail is kept once', async () => {
    const { alias, id } = await world.agent('read')

    const { outcomes } = await race(order, [keep(alias, 'a'), keep(alias, 'a'), numbersIn(id)])

    const [all] = z.array(numbers).parse(await world.db.sql.unsafe(numbersIn(id)))
    expect([outcomes, all?.numbers.length]).toEqual([['kept', 'kept'], 1])
  })
})
