import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stop as stopEsbuild } from 'esbuild'
import { afterAll, expect, test } from 'vitest'
import { buildFunctions } from '../../scripts/build/functions.ts'
import { readFunctions } from '../../scripts/local/functions.ts'
import { outboxPages, startMailCatcher } from '../../scripts/local/mail.ts'
import { startWorkers } from '../../scripts/local/workers.ts'
import { notificationTest } from '../../shared/mail/access-messages.ts'
import { sealForOutbox } from '../../shared/mail/outbox.ts'
import { signUpCode } from '../../shared/mail/sign-up-messages.ts'
import { openPerson } from '../support/person.ts'
import { openPushService } from '../support/pushes.ts'
import { start } from '../support/world.ts'

const modules = mkdtempSync(join(tmpdir(), 'aoa-mailer-'))
afterAll(async () => {
  await stopEsbuild()
  rmSync(modules, { recursive: true, force: true })
})

test('the mailer sends what waits from its own worker, by SMTP and as a push, and the outbox page shows it', async () => {
  const tests = await start()
  const { world, db, bindings } = tests
  const catcher = await startMailCatcher()
  const to = 'ann@people.example'
  const mail = await sealForOutbox(world, { ...signUpCode({ code: '482913', minutes: 10 }), to })
  await db.sql`select private.enqueue_mail(null, ${db.sql.json(mail)})`
  const { agent } = await openPerson(tests)
  const browser = (await openPushService(tests)).subscribe()
  await db.sql`insert into private.push_devices ${db.sql({ ...browser.keys, account: agent.id, label: 'One' })}`
  const notice = await sealForOutbox(world, notificationTest(world.config.WEB_URL))
  await db.sql`select private.enqueue_mail(${agent.id}, ${db.sql.json(notice)})`
  await buildFunctions(modules, ['mailer'])
  const functions = (await readFunctions()).filter(({ folder }) => folder === 'mailer')
  const given = { ...bindings.product, MAIL_URL: catcher.smtpUrl }
  const lines: string[] = []
  const log = (line: string) => lines.push(line)

  const workers = await startWorkers({ functions, port: 0, modules, bindings: given, log })
  await expect.poll(() => catcher.caught().length).toBe(2)
  await expect.poll(() => browser.pushes().length).toBe(1)

  const shown = async (path: string) => (await fetch(new URL(path, catcher.outboxUrl))).text()
  const number = catcher.caught().find((mail) => mail.to.includes(to))?.number
  expect(await shown('/')).toContain(`href="/messages/${number}"`)
  expect(await shown(`/messages/${number}`)).toContain('482913')
  expect(await shown(`/messages?to=${to}`)).toContain('482913')
  expect(await shown('/messages?to=eve@people.example')).toBe('[]')
  await workers.stop()
  await catcher.close()
  expect(lines).toEqual([])
})

test('the outbox page is not read under a name that a stranger gave this machine', async () => {
  const asked = outboxPages(() => [])

  expect((await asked(new Request('http://rebound.example:8025/'))).status).toBe(421)
  expect((await asked(new Request('http://localhost:8025/'))).status).toBe(200)
})
