import { expect, test } from 'vitest'
import { startCloudflare } from '../support/cloudflare/cloudflare.ts'
import { plans, smallModules, stateOf, uploadTo } from '../support/cloudflare/upload.ts'

test('a run that is killed after any change of the account is repeated, and the end is the same', async () => {
  const modules = smallModules()
  const whole = await startCloudflare('example.com')
  await uploadTo(whole, modules).done
  const cloudflare = await startCloudflare('example.com')
  const killedAt = new Set<string>()

  // Each run gets one change further than those before it.
  for (let isComplete = false; !isComplete; ) {
    const killing = new AbortController()
    const run = uploadTo(cloudflare, modules, { signal: killing.signal })
    cloudflare.afterChange((call) => {
      const place = `${run.lines.at(-1)}: ${call}`
      if (killedAt.has(place)) return
      killedAt.add(place)
      killing.abort()
    })
    isComplete = await run.done.then(
      () => true,
      () => !killing.signal.aborted,
    )
  }

  expect(killedAt.size).toBeGreaterThan(3 * plans.length)
  expect(stateOf(cloudflare)).toEqual(stateOf(whole))
}, 900_000)
