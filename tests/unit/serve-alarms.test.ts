/** Alarms reach the address of the operator, each of them once. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Listening } from '../../scripts/local/listen.ts'
import { listen } from '../../scripts/local/listen.ts'
import { openAlarms } from '../../scripts/serve/alarms.ts'

let receiver: Listening
let received: unknown[] = []
let status = 200
beforeAll(async () => {
  receiver = await listen(async (request) => {
    received.push(await request.json())
    return new Response(null, { status })
  })
})
afterAll(() => receiver.close())
beforeEach(() => {
  received = []
  status = 200
})

const low = { alarm: 'relayer_low', chain: 'eip155:8453', address: '0xa', wei: '5' }

test('the same alarm is told once, and lines that are no alarms never', async () => {
  const hear = openAlarms(receiver.url, () => {})

  hear('ready on http://127.0.0.1')
  hear('{"operation":"deposits","log":"no word"}')
  hear('{"alarm":')
  hear(JSON.stringify(low))
  hear(JSON.stringify({ ...low, wei: '4' }))
  hear(JSON.stringify({ ...low, address: '0xb' }))

  await expect.poll(() => received.length).toBe(2)
  expect(received).toContainEqual({ text: 'Alarm relayer_low: 0xa', ...low })
  expect(received).toContainEqual({ text: 'Alarm relayer_low: 0xb', ...low, address: '0xb' })
})

test('an alarm that could not be told is told at its next line', async () => {
  const said: string[] = []
  const hear = openAlarms(receiver.url, (line) => said.push(line))
  status = 500

  hear(JSON.stringify(low))
  await expect.poll(() => said).toEqual(['an alarm could not be told: Error: status 500'])
  status = 200
  hear(JSON.stringify(low))

  await expect.poll(() => received.length).toBe(2)
})
