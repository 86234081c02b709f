/** Bindings to functions that stay on another platform. Each call is signed by itself, and made once. */
import { SignJWT } from 'jose/jwt/sign'
import { algorithm, signingKeyOf } from '../auth/session.ts'
import { required } from '../env.ts'
import type { World } from '../world.ts'
import { bindingOf } from './binding.ts'
import { answerSchema, bodyClaim, bodyHash, callsAddress, type Target, tokenType } from './calls.ts'
import { decodeValue, encodeValue } from './codec.ts'

/** Part of the world that a call needs. */
export type CallerWorld = Pick<World, 'config' | 'now' | 'newId' | 'fetch' | 'deadline'>

/** Time that an answer may take; the vault waits for mails for 25 seconds, and for sites for as long. */
const answerMilliseconds = 100_000

/** Returns the binding. A call that is not answered throws, and may have been carried out. */
export function remoteBinding(world: CallerWorld, to: Target): object {
  const call = async (method: string, args: readonly unknown[]) => {
    const body = new TextEncoder().encode(encodeValue({ to, method, args }))
    const token = await signCall(world, body)
    const response = await world.fetch(callsAddress(world.config), {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body,
      redirect: 'error',
      signal: world.deadline(answerMilliseconds),
    })
    if (response.status !== 200) {
      await response.body?.cancel()
      throw new Error(`${to}.${method} was answered ${response.status}`)
    }
    const answer = answerSchema.parse(decodeValue(await response.text()))
    if ('error' in answer) throw new Error(answer.error)
    return answer.value
  }
  const fetch = () => Promise.reject(new Error(`${to} takes no requests from here`))
  return bindingOf(() => ({ call, fetch }))
}

/** Signs a call of this body. Its age is counted by the other platform. */
export async function signCall(world: CallerWorld, body: Uint8Array): Promise<string> {
  const { kid, key } = await signingKeyOf(required(world.config, 'REMOTE_CALLS_PRIVATE_KEY'))
  return new SignJWT({ [bodyClaim]: await bodyHash(body) })
    .setProtectedHeader({ alg: algorithm, typ: tokenType, kid })
    .setAudience(callsAddress(world.config))
    .setIssuedAt(world.now())
    .setJti(world.newId())
    .sign(key)
}
