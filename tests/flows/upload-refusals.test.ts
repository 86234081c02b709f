import { expect, test } from 'vitest'
import type { PlannedWorker } from '../../scripts/deploy/plan.ts'
import { startCloudflare } from '../support/cloudflare/cloudflare.ts'
import {
  accessTo,
  plans,
  secretOf,
  smallModules,
  stateOf,
  uploadTo,
} from '../support/cloudflare/upload.ts'

const modules = smallModules()

/** Returns the plans with a route and a schedule for each, which are set after its upload. */
function withRoute({ plans: some }: { plans: readonly PlannedWorker[] }) {
  return {
    plans: some.map((plan) => ({
      ...plan,
      routes: [`api.example.com/${plan.module}*`],
      crons: ['0 * * * *'],
    })),
  }
}

test('a secret without a value, and a module that was not built, are named, and nothing is uploaded', async () => {
  const cloudflare = await startCloudflare('example.com')
  const secrets = (name: string) => (name === 'OTP_PEPPER' ? '' : secretOf(name))

  const { done } = uploadTo(cloudflare, modules, { secrets })
  const { done: unbuilt } = uploadTo(cloudflare, '/nowhere')

  await expect(done).rejects.toThrow('aoa-app needs OTP_PEPPER: give it a value')
  await expect(unbuilt).rejects.toThrow('/nowhere/custody.mjs is missing: run npm run build')
  expect(cloudflare.calls).toEqual([])
})

test('a wrong token, another account and a host without a zone are each one sentence', async () => {
  const cloudflare = await startCloudflare('example.org')
  const { account } = cloudflare
  const refusal = 'Authentication error [10000]. Give a token that may edit Workers Scripts'

  const wrongToken = uploadTo(cloudflare, modules, {
    api: { ...accessTo(cloudflare), token: 'wrong' },
  })
  await expect(wrongToken.done).rejects.toThrow(refusal)
  await expect(uploadTo(cloudflare, modules).done).rejects.toThrow(
    'No zone of the account holds api.example.com: add its domain to Cloudflare, or correct BASE_URL.',
  )
  const one = await startCloudflare('example.com')
  const other = uploadTo(one, modules, {
    api: { ...accessTo(one), accountId: '3'.repeat(32) },
  })
  await expect(other.done).rejects.toThrow('No zone of the account holds api.example.com')
  expect(account.scripts.size).toBe(0)
})

test('a route that another worker has is said, and the next run goes on from there', async () => {
  const cloudflare = await startCloudflare('example.com')
  const [custody, reader] = plans
  if (!custody || !reader) throw new Error('there are no plans')
  const taken = { ...custody, routes: ['api.example.com/*'] }
  const wanting = { ...reader, routes: ['api.example.com/*'] }
  const two = { plans: [taken, wanting] }

  const { done } = uploadTo(cloudflare, modules, two)
  await expect(done).rejects.toThrow(
    `aoa-mail-reader was not uploaded: Can't deploy routes that are assigned to another worker. "aoa-custody"`,
  )

  const { done: again } = uploadTo(cloudflare, modules, { plans: [custody, wanting] })
  expect(await again).toMatchObject({ uploaded: ['aoa-custody', 'aoa-mail-reader'], kept: [] })
})

test('a run that is killed while it uploads is repeated, and the end is the same', async () => {
  const some = { plans: plans.slice(0, 2) }
  const whole = await startCloudflare('example.com')
  await uploadTo(whole, modules, withRoute(some)).done
  const cloudflare = await startCloudflare('example.com')

  for (const { name } of some.plans) {
    const killing = new AbortController()
    cloudflare.afterChange((call) => call.endsWith(`/scripts/${name}`) && killing.abort())
    const run = uploadTo(cloudflare, modules, { ...withRoute(some), signal: killing.signal })
    await expect(run.done, name).rejects.toThrow('aborted')
  }
  await uploadTo(cloudflare, modules, withRoute(some)).done

  expect(stateOf(cloudflare)).toEqual(stateOf(whole))
})
