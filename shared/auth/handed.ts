/**
 * A caller that one function hands to another. A function that calls an operation for its own caller has
 * already used up the caller's DPoP proof, and it passes no token on. Instead it states the caller's
 * credential in a header that is authenticated with the pepper all functions share. The header is valid for
 * 60 seconds and for one method of one function, and nobody outside can make one.
 */
import { required } from '../env.ts'
import type { World } from '../world.ts'
import { credentialOf } from './api-key.ts'

type Keyed = Pick<World, 'config' | 'now'>
/** The call that the header is valid for. */
type DelegatedCall = Pick<Request, 'method' | 'url'>

const secondsMax = 60
const form = /^([0-9a-f]{64})\.([0-9]{10})\.([0-9a-f]{64})$/

/** Returns the Authorization header of this call for the caller with this credential. */
export async function delegationHeader(
  world: Keyed,
  called: DelegatedCall,
  credential: string,
): Promise<string> {
  const until = Math.floor(world.now().getTime() / 1000) + secondsMax
  return `Handed ${credential}.${until}.${await sealOf(world, called, credential, until)}`
}

/** Returns the credential in the header; undefined if it is forged, expired or for another call. */
export async function readDelegatedCredential(
  world: Keyed,
  called: DelegatedCall,
  text: string,
): Promise<string | undefined> {
  const [, credential = '', end = '', seal] = form.exec(text) ?? []
  const until = Number(end)
  if (seal === undefined || until * 1000 < world.now().getTime()) return undefined
  const pepper = required(world.config, 'API_KEY_PEPPER')
  // Both are hashed again, so that the time of the comparison does not show how much of a guess is right.
  const [sent, right] = await Promise.all([
    credentialOf(seal, pepper),
    credentialOf(await sealOf(world, called, credential, until), pepper),
  ])
  return sent === right ? credential : undefined
}

function sealOf(
  { config }: Keyed,
  { method, url }: DelegatedCall,
  credential: string,
  until: number,
): Promise<string> {
  // Platforms call a function by its own name, with different paths in front of it.
  const name = new URL(url).pathname.split('/').at(-1)
  const text = `handed ${method} ${name} ${credential} ${until}`
  return credentialOf(text, required(config, 'API_KEY_PEPPER'))
}
