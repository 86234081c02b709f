/** Requests to strangers reach public addresses only, by whatever way an address is given. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Listening, listen } from '../../scripts/local/process/listen.ts'
import { isPublicAddress, publicFetch } from '../../scripts/serve/public-fetch.ts'

let inside: Listening
let door: Listening
let asked = 0
beforeAll(async () => {
  inside = await listen(() => {
    asked += 1
    return new Response('inside')
  })
  door = await listen(() => Response.redirect(inside.url, 302))
})
afterAll(async () => {
  await Promise.all([inside.close(), door.close()])
})

test('an own server is reached; strangers lead inside by no name, address or redirect', async () => {
  const fetch = publicFetch([new URL(door.url).host])
  const { port } = inside

  const own = await fetch(door.url, { redirect: 'manual' })
  const hosts = ['127.0.0.1', 'localhost', '[::ffff:7f00:1]', '0.0.0.0', '2130706433']
  const others = await Promise.allSettled(hosts.map((host) => fetch(`http://${host}:${port}/`)))

  expect(own.status).toBe(302)
  expect(others.map(({ status }) => status)).toEqual(hosts.map(() => 'rejected'))
  expect(asked).toBe(0)
})

test.each([
  ['1.1.1.1', true],
  ['2606:4700:4700::1111', true],
  ['10.1.2.3', false],
  ['100.64.0.1', false],
  ['169.254.169.254', false],
  ['192.168.1.1', false],
  ['198.19.0.1', false],
  ['224.0.0.1', false],
  ['::1', false],
  ['::ffff:1.1.1.1', false],
  ['64:ff9b::1', false],
  ['fc00::1', false],
  ['fe80::1', false],
  ['2001:db8::1', false],
  ['2002:7f00:1::', false],
  ['not an address', false],
])('%s is public: %s', (address, isPublic) => {
  expect(isPublicAddress(address)).toBe(isPublic)
})
