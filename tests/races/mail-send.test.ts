import type { TransactionSql } from 'postgres'
import { expect, test } from 'vitest'
import { openMailbox, type TestMailbox } from '../support/mailbox.ts'
import { randomUUID } from '../support/seed.ts'
import { start } from '../support/world.ts'

const product = await start()
const { db } = product
const order = { to: ['ann@people.example'], subject: 'Hello', text: 'Hello.' }

/** Returns the credential of the account's key with this scope. */
async function credentialOf({ agent }: TestMailbox, scope = 'pay'): Promise<string> {
  const [row] = await db.sql`select digest from private.credentials
    where account = ${agent.id} and scopes = ${[scope]}`
  return String(row?.['digest'])
}

/** Sends a mail during another transaction, which ends once the mail waits for it or is sent. */
async function sentDuring(box: TestMailbox, other: (sql: TransactionSql) => Promise<unknown>) {
  const { sending } = await db.sql.begin(async (sql) => {
    await other(sql)
    let isOver = false
    const answer = box.send(order).finally(() => {
      isOver = true
    })
    // A transaction keeps its first picture of who is connected.
    const waits = async () => {
      await sql`select pg_stat_clear_snapshot()`
      return sql`select from pg_locks l join pg_stat_activity a using (pid)
        where not l.granted and a.datname = current_database()`
    }
    await expect.poll(async () => isOver || (await waits()).length > 0, { interval: 5 }).toBe(true)
    return { sending: answer }
  })
  return sending
}

test('two mails at once do not both find the last room that there is', async () => {
  const box = await openMailbox(product)
  const credential = await credentialOf(box)
  for (let mail = 0; mail < 19; mail += 1) await box.sent(order)
  const mail = {
    id: randomUUID(),
    from_address: box.address,
    digest: '0'.repeat(64),
    size: 1,
    sealed_head: {},
    sealed_body: {},
  }
  const letters = [{ id: randomUUID(), to: order.to[0] ?? '', sealed: 'x' }]

  const answer = await sentDuring(
    box,
    (sql) => sql`
      select * from api.send_mail(${credential}, ${sql.json(mail)}, ${sql.json(letters)}, '{}')`,
  )

  expect(answer).toMatchObject({ status: 429, body: { error: 'mail_limit_reached' } })
})

test('a mail that waits for a freeze is not sent', async () => {
  const box = await openMailbox(product)
  // The first mail waits for its key, and a request of the same API key waits for its rate.
  await box.sent(order)
  await box.agent.withKey('read')
  const credential = await credentialOf(box, 'read')

  const answer = await sentDuring(
    box,
    (sql) => sql`select * from api.freeze_account(${credential}, 1)`,
  )

  expect(answer).toMatchObject({ status: 403, body: { error: 'account_frozen' } })
})
