/** Workers that a deployment needs no more are asked for nothing, and removed once the service was found well. */
import { expect, test } from 'vitest'
import { plannedWorkers } from '../../scripts/deploy/plan.ts'
import { sayPlan } from '../../scripts/deploy/preview.ts'
import { deploy } from '../../scripts/deploy/run.ts'
import { addRoute, addVersion, deploy as present, setCrons } from '../support/cloudflare/account.ts'
import type { Cloudflare } from '../support/cloudflare/cloudflare.ts'
import { names, stateOf } from '../support/cloudflare/upload.ts'
import { openDeployment } from '../support/deploy/deployment.ts'

const each = (await plannedWorkers({}, 'each')).map(({ name }) => name)

/** Adds a worker that somebody has uploaded by hand, with a route and a schedule. */
function addWorker({ account }: Cloudflare, name: string, route: string) {
  const metadata = {
    main_module: 'index.mjs',
    bindings: [],
    compatibility_date: '2026-10-20',
    compatibility_flags: [],
    keep_bindings: [],
    annotations: {},
  }
  const { id } = addVersion(account, name, metadata, { 'index.mjs': 'export default {}' })
  present(account, name, id)
  setCrons(account, name, ['0 * * * *'])
  addRoute(account, route, name)
}

function routesOf({ account }: Cloudflare): string[] {
  return account.routes.map(({ script }) => script)
}

test('from shared workers to one for each function and back, only those of the plan are left', async () => {
  const opened = await openDeployment()
  const { given, account } = opened
  expect(await deploy(given)).toBe(0)

  const workers = { ...given, settings: { ...given.settings, workers: 'each' as const } }
  expect(await deploy(workers), opened.lines.join('\n')).toBe(0)

  // The rule for mail is set by hand here, so the old taker of mails stays without requests.
  expect([...account.account.scripts.keys()].toSorted()).toEqual([...each, 'aoa-mail'].toSorted())
  expect(routesOf(account)).not.toContain('aoa-mail')
  expect(account.account.scripts.get('aoa-mail')?.crons).toEqual([])
  expect(await deploy(given)).toBe(0)
  expect([...account.account.scripts.keys()].toSorted()).toEqual(
    [...names, 'aoa-inbound-mail'].toSorted(),
  )
})

test('a red run in another form gives the workers of before their routes and schedules back', async () => {
  const opened = await openDeployment()
  expect(await deploy(opened.given)).toBe(0)
  const before = stateOf(opened.account)
  opened.service.reasons = ['custody_unreachable']

  const settings = { ...opened.given.settings, workers: 'each' as const }
  expect(await deploy({ ...opened.given, settings })).toBe(1)

  expect(stateOf(opened.account)).toEqual(before)
})

test('a worker of the other form with a more specific route answers nobody after a run, and is named by the plan', async () => {
  const opened = await openDeployment()
  addWorker(opened.account, 'aoa-vault-use', 'api.example.com/web/join*')
  await sayPlan(opened.given)
  opened.service.reasons = ['custody_unreachable']

  const red = await deploy(opened.given)
  const left = stateOf(opened.account)
  opened.service.reasons = []
  const green = await deploy(opened.given)

  expect(opened.lines).toContain(
    'would take routes and schedules from the worker aoa-vault-use, and remove it',
  )
  expect([red, green]).toEqual([1, 0])
  expect(left).toMatchObject({
    workers: [{ name: 'aoa-vault-use', crons: ['0 * * * *'] }],
    routes: ['api.example.com/web/join* aoa-vault-use'],
  })
  expect([...opened.account.account.scripts.keys()].toSorted()).toEqual(names.toSorted())
})

test('a worker that is none of the product keeps its route and schedule, whatever its name begins with', async () => {
  const opened = await openDeployment()
  addWorker(opened.account, 'aoa-status', 'status.example.com/*')

  expect(await deploy(opened.given)).toBe(0)

  expect(routesOf(opened.account)).toContain('aoa-status')
  expect(opened.account.account.scripts.get('aoa-status')?.crons).toEqual(['0 * * * *'])
})

test('a deployment of another name in the account is left alone', async () => {
  const opened = await openDeployment({ name: '"aoatest"' })
  addWorker(opened.account, 'aoa-app', 'live.example.com/*')

  expect(await deploy(opened.given)).toBe(0)

  expect(routesOf(opened.account)).toContain('aoa-app')
  expect(opened.account.account.scripts.has('aoatest-app')).toBe(true)
})

test.each(['live.example.com/*', 'live.example.org/*'])(
  'workers of the same name that answer at %s stop a deployment',
  async (route) => {
    const opened = await openDeployment()
    const { account } = opened.account
    addWorker(opened.account, 'aoa-vault-use', 'live.example.com/old*')
    account.routes = []
    if (route.includes('.com')) addRoute(account, route, 'aoa-vault-use')
    else account.elsewhere.push({ pattern: route, script: 'aoa-vault-use' })

    expect(await deploy(opened.given)).toBe(1)

    expect(opened.lines.join('\n')).toContain(
      `WRONG workers named aoa- answer at ${route.slice(0, -2)}: give this deployment another name`,
    )
    expect(opened.account.changes).toEqual([])
  },
)

test('mail that a worker of before had goes to the one of now', async () => {
  const opened = await openDeployment({ mail_domain: '"example.com"' })
  expect(await deploy(opened.given)).toBe(0)

  const settings = { ...opened.given.settings, workers: 'each' as const }
  expect(await deploy({ ...opened.given, settings })).toBe(0)

  expect(opened.cloudflare.catchAll.actions).toEqual([
    { type: 'worker', value: ['aoa-inbound-mail'] },
  ])
  expect([...opened.account.account.scripts.keys()].toSorted()).toEqual(each.toSorted())
})
