/**
 * Challenges to sign in with a passkey, which anybody may ask for. Each carries its time and is bound
 * to one browser, so nothing is kept of those that nobody answers, and nobody can use them up.
 */
import { decodeBytes, encodeForUrl } from '../base64.ts'
import { fromHex } from '../digest.ts'
import { required } from '../env.ts'
import type { World } from '../world.ts'
import { credentialOf } from './api-key.ts'

const goodSeconds = 300
const timeBytes = 4
const randomBytes = 12
const boundBytes = timeBytes + randomBytes
const macBytes = 16

/** A challenge for the browser with this secret. */
export async function newSignInChallenge(world: World, holder: string): Promise<string> {
  const head = new Uint8Array(boundBytes)
  new DataView(head.buffer).setUint32(0, secondsNow(world))
  head.set(world.randomBytes(randomBytes), timeBytes)
  return encodeForUrl(new Uint8Array([...head, ...(await macOf(world, head, holder))]))
}

/** Whether it was made here for this browser, no longer than five minutes ago. */
export async function isSignInChallenge(
  world: World,
  challenge: string,
  holder: string,
): Promise<boolean> {
  const bytes = decodeBytes(challenge)
  if (bytes?.length !== boundBytes + macBytes) return false
  const head = bytes.subarray(0, boundBytes)
  const age = secondsNow(world) - new DataView(bytes.buffer, bytes.byteOffset).getUint32(0)
  // The same bytes have one spelling, or a spent challenge would be good again in another.
  if (age > goodSeconds || age < -goodSeconds || encodeForUrl(bytes) !== challenge) return false
  const mac = await macOf(world, head, holder)
  // Without a way out, so that the time tells nothing of where two bytes differ.
  return (
    mac.reduce((different, byte, at) => different | (byte ^ (bytes[boundBytes + at] ?? 0)), 0) === 0
  )
}

function secondsNow(world: World): number {
  return Math.floor(world.now().getTime() / 1000)
}

async function macOf({ config }: World, head: Uint8Array, holder: string): Promise<Uint8Array> {
  const pepper = required(config, 'API_KEY_PEPPER')
  const mac = await credentialOf(`sign-in challenge ${encodeForUrl(head)} ${holder}`, pepper)
  return fromHex(mac).subarray(0, macBytes)
}
