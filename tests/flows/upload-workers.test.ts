import { readdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { forgetBefore, isUnfinished, rollBack } from '../../scripts/deploy/upload/before.ts'
import { activeVersion } from '../support/cloudflare/account.ts'
import { type Cloudflare, startCloudflare } from '../support/cloudflare/cloudflare.ts'
import {
  accessTo,
  beforeOf,
  names,
  plans,
  secretOf,
  smallModules,
  stateOf,
  uploadTo,
  writeModule,
} from '../support/cloudflare/upload.ts'

const modules = smallModules()

/** Returns all secrets that the version of a worker holds, by name. */
function secretsIn({ account }: Cloudflare, name: string): string[] {
  const script = account.scripts.get(name)
  const bindings = (script && activeVersion(script)?.bindings) ?? []
  return bindings.flatMap((one) => (one.type === 'secret_text' ? [one.name] : [])).toSorted()
}

const complete = await startCloudflare('example.com')
const first = uploadTo(complete, modules)
const firstDone = await first.done

test('an empty account gets every worker in order, with its own bindings and no other secret', () => {
  expect(firstDone).toMatchObject({ uploaded: names, kept: [] })
  expect([...complete.account.scripts.keys()].toSorted()).toEqual(names.toSorted())
  for (const plan of plans) {
    const script = complete.account.scripts.get(plan.name)
    const version = script && activeVersion(script)
    const vars = Object.entries(plan.vars).map(([name, text]) => ({
      name,
      type: 'plain_text',
      text,
    }))
    const secrets = plan.secrets.map((name) => {
      return { name, type: 'secret_text', text: secretOf(name) }
    })
    const services = plan.services.map(({ binding: name, service }) => {
      return { name, type: 'service', service }
    })

    expect(version?.bindings, plan.name).toEqual(
      expect.arrayContaining([...vars, ...secrets, ...services]),
    )
    expect(version?.bindings).toHaveLength(vars.length + secrets.length + services.length)
    expect(version?.metadata).toMatchObject({
      compatibility_date: plan.compatibilityDate,
      compatibility_flags: plan.compatibilityFlags,
      observability: { enabled: true },
    })
    expect(version?.metadata.limits?.cpu_ms).toBe(plan.cpuMilliseconds)
    expect(Object.keys(version?.modules ?? {})).toEqual([`${plan.module}.mjs`])
    expect(script).toMatchObject({ crons: plan.crons, isOnWorkersDev: false })
  }
  expect(stateOf(complete).routes).toEqual([
    'api.example.com/* aoa-app',
    'api.example.com/inbound-mail* aoa-mail',
    'api.example.com/web* aoa-web',
  ])
})

test('of two workers that call each other, an empty one holds the place of the second', () => {
  expect(first.lines.slice(2, 5)).toEqual([
    'aoa-mail: an empty worker holds its place for aoa-vault',
    'aoa-vault: uploading',
    'aoa-mail: uploading',
  ])
})

test('what is deployed already is not uploaded again, and a changed part only', async () => {
  const before = complete.changes.length

  const second = await uploadTo(complete, modules).done
  expect(second).toMatchObject({ uploaded: [], kept: names })
  expect(complete.changes).toHaveLength(before)

  writeModule(modules, 'schedules', 'second')
  const secrets = (name: string) => (name === 'DKIM_PRIVATE_KEY' ? 'another key' : secretOf(name))
  const changed = await uploadTo(complete, modules, { secrets }).done
  expect(changed.uploaded).toEqual(['aoa-mail', 'aoa-schedules'])

  const { routes } = complete.account
  routes.splice(0, routes.length, ...routes.filter(({ script }) => script !== 'aoa-web'))
  const repaired = await uploadTo(complete, modules, { secrets }).done
  expect(repaired.uploaded).toEqual(['aoa-web'])
  expect(stateOf(complete).routes).toContain('api.example.com/web* aoa-web')
})

test('another token for the account uploads nothing again', async () => {
  const cloudflare = await startCloudflare('example.com')
  const some = { plans: [{ ...planOf('custody'), routes: ['api.example.com/custody*'] }] }
  await uploadTo(cloudflare, modules, some).done
  cloudflare.token = 'another-token-of-the-account'

  const { uploaded } = await uploadTo(cloudflare, modules, some).done

  expect(uploaded).toEqual([])
})

function planOf(module: string) {
  const found = plans.find((plan) => plan.module === module)
  if (!found) throw new Error(`there is no worker ${module}`)
  return found
}

test('a secret that a worker needs no more is not left in it, and is back after a rollback', async () => {
  const vault = planOf('vault')
  const secrets = vault.secrets.filter((name) => name !== 'OUTBOX_KEY')
  expect(secretsIn(complete, vault.name)).toContain('OUTBOX_KEY')
  forgetBefore(beforeOf(complete))

  await uploadTo(complete, modules, { plans: [planOf('mail'), { ...vault, secrets }] }).done
  expect(secretsIn(complete, vault.name)).toEqual(secrets)
  expect(await rollBack(accessTo(complete), beforeOf(complete), () => {})).toBe(true)
  expect(secretsIn(complete, vault.name)).toEqual(vault.secrets)
})

test('a rollback brings back code, bindings, routes and schedules, and removes what is new', async () => {
  const cloudflare = await startCloudflare('example.com')
  const custody = planOf('custody')
  const reader = {
    ...planOf('mail-reader'),
    routes: ['api.example.com/read*'],
    crons: ['0 * * * *'],
  }
  await uploadTo(cloudflare, modules, { plans: [custody, reader] }).done
  const before = stateOf(cloudflare)
  forgetBefore(beforeOf(cloudflare))

  const moved = { ...reader, routes: ['api.example.com/reader*'], crons: ['*/5 * * * *'] }
  const changed = { ...custody, vars: { ...custody.vars, MAIL_DOMAIN: 'other.example' } }
  const more = { ...custody, name: 'aoa-more', routes: ['api.example.com/more*'] }
  await uploadTo(cloudflare, modules, { plans: [changed, moved, more] }).done
  expect(stateOf(cloudflare).routes).toEqual([
    'api.example.com/more* aoa-more',
    'api.example.com/reader* aoa-mail-reader',
  ])
  expect(await rollBack(accessTo(cloudflare), beforeOf(cloudflare), () => {})).toBe(true)

  expect(stateOf(cloudflare)).toEqual(before)
  expect(isUnfinished(beforeOf(cloudflare))).toBe(false)
})

/** Returns what others on this machine can read: files of uploads, and words and variables of processes. */
function readable(): string[] {
  const folders = readdirSync(tmpdir()).filter((name) => /^aoa-(deploy|empty)-/.test(name))
  const files = folders.flatMap((name) => list(join(tmpdir(), name)))
  const processes = list('/proc').filter((path) => /^\/proc\/[0-9]+$/.test(path))
  const shown = processes.flatMap((path) => [join(path, 'cmdline'), join(path, 'environ')])
  return [...files, ...shown].map((path) => unlessGone(() => readFileSync(path, 'utf8')) ?? '')
}

function list(folder: string): string[] {
  return (unlessGone(() => readdirSync(folder)) ?? []).map((name) => join(folder, name))
}

/** Returns nothing for what another process has removed meanwhile, or may alone read. */
function unlessGone<Result>(read: () => Result): Result | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}

test('no secret is in a file with a name, in the words of a process, in a line or in an error', async () => {
  const mail = planOf('mail')
  const seen: string[] = []
  complete.afterChange(() => seen.push(...readable()))

  const { done, lines } = uploadTo(complete, modules, {
    plans: [
      { ...mail, vars: { ...mail.vars, MAIL_DOMAIN: 'other.example' } },
      { ...planOf('vault'), routes: ['elsewhere.example/*'] },
    ],
  })
  const failure = String(await done.catch((error: unknown) => error))

  expect(failure).toMatch(
    /^Error: aoa-vault was not uploaded: Could not find zone for `elsewhere.example`/,
  )
  expect(seen.some((text) => text.includes('other.example'))).toBe(true)
  const all = [failure, ...lines, ...seen].join('\n')
  expect(all).not.toContain('the secret value of')
  expect(`${failure}${lines.join()}`).not.toContain(complete.token)
})
