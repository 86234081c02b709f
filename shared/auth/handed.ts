/**
 * A caller handed from one function to another. Where a function calls an operation for the caller of
 * its own request, it has used up the proof of the caller's key, and passes no token on; it states
 * whose the call is, under the pepper that all of them hold, for a minute and for nobody outside.
 */
import { required } from '../env.ts'
import type { World } from '../world.ts'
import { credentialOf } from './api-key.ts'

type Keyed = Pick<World, 'config' | 'now'>

const secondsMax = 60
const form = /^([0-9a-f]{64})\.([0-9]{10})\.([0-9a-f]{64})$/

/** The header Authorization of a call for the caller with this credential. */
export async function handedOn(world: Keyed, credential: string): Promise<string> {
  const until = Math.floor(world.now().getTime() / 1000) + secondsMax
  return `Handed ${credential}.${until}.${await sealOf(world, credential, until)}`
}

/** The credential that was handed on; undefined where it is made up or late. */
export async function readHanded(world: Keyed, text: string): Promise<string | undefined> {
  const [, credential = '', end = '', seal] = form.exec(text) ?? []
  const until = Number(end)
  if (seal === undefined || until * 1000 < world.now().getTime()) return undefined
  const pepper = required(world.config, 'API_KEY_PEPPER')
  // Hashed once more, so that the time it takes tells nothing of how much of a guess is right.
  const [sent, right] = await Promise.all([
    credentialOf(seal, pepper),
    credentialOf(await sealOf(world, credential, until), pepper),
  ])
  return sent === right ? credential : undefined
}

function sealOf({ config }: Keyed, credential: string, until: number): Promise<string> {
  return credentialOf(`handed ${credential} ${until}`, required(config, 'API_KEY_PEPPER'))
}
