/**
 * A caller handed from one function to another. Where a function calls an operation for the caller of
 * its own request, it has used up the proof of the caller's key, and passes no token on; it states
 * whose the call is, under the pepper that all of them hold: for a minute, for one method of one
 * function, and for nobody outside.
 */
import { required } from '../env.ts'
import type { World } from '../world.ts'
import { credentialOf } from './api-key.ts'

type Keyed = Pick<World, 'config' | 'now'>
/** The call that it is handed on for. */
type Called = Pick<Request, 'method' | 'url'>

const secondsMax = 60
const form = /^([0-9a-f]{64})\.([0-9]{10})\.([0-9a-f]{64})$/

/** The header Authorization of this call for the caller with this credential. */
export async function handedOn(world: Keyed, called: Called, credential: string): Promise<string> {
  const until = Math.floor(world.now().getTime() / 1000) + secondsMax
  return `Handed ${credential}.${until}.${await sealOf(world, called, credential, until)}`
}

/** The credential that was handed on; undefined where it is made up, late or for another call. */
export async function readHanded(
  world: Keyed,
  called: Called,
  text: string,
): Promise<string | undefined> {
  const [, credential = '', end = '', seal] = form.exec(text) ?? []
  const until = Number(end)
  if (seal === undefined || until * 1000 < world.now().getTime()) return undefined
  const pepper = required(world.config, 'API_KEY_PEPPER')
  // Hashed once more, so that the time it takes tells nothing of how much of a guess is right.
  const [sent, right] = await Promise.all([
    credentialOf(seal, pepper),
    credentialOf(await sealOf(world, called, credential, until), pepper),
  ])
  return sent === right ? credential : undefined
}

function sealOf(
  { config }: Keyed,
  { method, url }: Called,
  credential: string,
  until: number,
): Promise<string> {
  // Platforms call a function by its own name, whatever stands before it in the address.
  const name = new URL(url).pathname.split('/').at(-1)
  const text = `handed ${method} ${name} ${credential} ${until}`
  return credentialOf(text, required(config, 'API_KEY_PEPPER'))
}
