/**
 * Challenges for signing in with a passkey, which anybody may request. Each carries its time and is bound
 * to one browser. Nothing is stored for unanswered challenges, so nobody can exhaust them.
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

/** Makes a challenge for the browser that holds this secret. */
export async function newSignInChallenge(world: World, holder: string): Promise<string> {
  const head = new Uint8Array(boundBytes)
  new DataView(head.buffer).setUint32(0, secondsNow(world))
  head.set(world.randomBytes(randomBytes), timeBytes)
  return encodeForUrl(new Uint8Array([...head, ...(await macOf(world, head, holder))]))
}

/** True if the challenge was made here for this browser, at most five minutes ago. */
export async function isSignInChallenge(
  world: World,
  challenge: string,
  holder: string,
): Promise<boolean> {
  const bytes = decodeBytes(challenge)
  if (bytes?.length !== boundBytes + macBytes) return false
  const head = bytes.subarray(0, boundBytes)
  const age = secondsNow(world) - new DataView(bytes.buffer, bytes.byteOffset).getUint32(0)
  // Only one spelling of the bytes is accepted; otherwise a spent challenge could be used again in another.
  if (age > goodSeconds || age < -goodSeconds || encodeForUrl(bytes) !== challenge) return false
  const mac = await macOf(world, head, holder)
  // Compares all bytes without an early exit, so that the time does not show where they differ.
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
