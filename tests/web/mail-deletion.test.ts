/** The owner deletes mail for good, without script. */
import { expect, test } from 'vitest'
import { type Browser, signedIn } from '../support/browserless.ts'
import { openMailbox } from '../support/mailbox.ts'
import { ownerOf } from '../support/owner.ts'
import { start } from '../support/world.ts'

const world = await start()
const day = 86_400

async function home() {
  const box = await openMailbox(world)
  return { ...box, browser: await signedIn(world, box.agent) }
}

/** Sends the form of a page that deletes mail. */
async function remove(browser: Browser, path: string, fields: Record<string, string>) {
  await browser.visit(path)
  return browser.submit(fields, `${path}/deleted`)
}

async function rowsOf(mail: string) {
  const { sql } = world.db
  const found = await sql`
    select (select count(*)::int from private.mails where id = ${mail}) as mails,
      (select count(*)::int from private.mail_attachments f where f.mail = ${mail}) as files,
      (select count(*)::int from private.mail_codes c where c.mail = ${mail}) as codes`
  return Object.values<unknown>({ ...found[0] })
}

test('a deleted mail is gone with its files and codes, and others stay', async () => {
  const { agent, browser, ...box } = await home()
  await box.receive({ subject: 'It stays' })
  const text = 'Your verification code is 482913.'
  await box.receiveFiles({ subject: 'Your code', text }, [{ filename: 'a.txt', content: 'word' }])
  const { mail_id } = await box.newest()
  expect(await rowsOf(mail_id)).toEqual([1, 1, 1])
  const path = `/web/mail/${mail_id}`

  expect((await remove(browser, path, {})).path).toBe(path)
  expect(await rowsOf(mail_id)).toEqual([1, 1, 1])
  const after = await remove(browser, path, { sure: 'yes' })

  expect([after.path, await rowsOf(mail_id)]).toEqual(['/web/mail', [0, 0, 0]])
  expect((await browser.visit(path)).text).toContain('This email does not exist, or was deleted.')
  const { mails } = await box.list()
  expect(mails.map(({ untrusted }) => untrusted.subject.text)).toEqual(['It stays'])
  const { body } = await agent.get('/wallet-activity-list?category=mail&limit=1')
  expect(body['items']).toMatchObject([
    { type: 'mail_deleted', summary: 'The owner deleted a mail.' },
  ])
})

test('old mail that an agent has read or sent is deleted at once, and nothing else', async () => {
  const { agent, ...box } = await home()
  const subjects = async () =>
    (await box.list()).mails.map(({ untrusted }) => untrusted.subject.text).toSorted()
  await box.receive({ subject: 'Old and read' })
  await box.newest()
  await box.receive({ subject: 'Old and new to the agent' })
  await box.sent({ to: ['friend@elsewhere.com'], subject: 'Old and sent', text: 'x' })
  await world.tick(31 * day)
  await box.receive({ subject: 'Young and read' })
  await box.newest()
  const all = await subjects()
  const visitor = await signedIn(world, agent)

  await remove(visitor, '/web/mail', { days: '30' })
  await remove(visitor, '/web/mail', { days: '90', sure: 'yes' })
  await remove(visitor, '/web/mail', { days: '0', sure: 'yes' })
  expect(await subjects()).toEqual(all)
  await remove(visitor, '/web/mail', { days: '30', sure: 'yes' })

  expect(await subjects()).toEqual(['Old and new to the agent', 'Young and read'])
})

test('what was sent counts for a day and goes out, whatever its owner deletes', async () => {
  const { agent, browser, ...box } = await home()
  await box.sent({ to: ['friend@elsewhere.com'], subject: 'Today', text: 'x' })
  const { mail_id } = await box.newest()
  const owner = await ownerOf(world, agent)

  expect((await browser.visit(`/web/mail/${mail_id}`)).text).not.toContain('Delete it')
  for (const which of [{ mail: mail_id }, { days: 0 }]) {
    expect(await owner.call('owner_delete_mails', which)).toEqual([{ deleted: 0 }])
  }

  await world.tick(day)
  const later = await ownerOf(world, agent)
  expect(await later.call('owner_delete_mails', { mail: mail_id })).toEqual([{ deleted: 1 }])
})

test('nobody deletes the mail of another account', async () => {
  const [mine, other] = [await home(), await home()]
  await mine.receive()
  const mail = (await mine.newest()).mail_id
  const stranger = await ownerOf(world, other.agent)

  expect(await stranger.call('owner_delete_mails', { mail })).toEqual([{ deleted: 0 }])
  expect(await stranger.call('owner_delete_mails', { days: 0 })).toEqual([{ deleted: 0 }])

  expect(await rowsOf(mail)).toEqual([1, 0, 0])
})
