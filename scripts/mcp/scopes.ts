/** Asks the service for the scopes of the key, which decide on the tools that are listed. */
import * as z from 'zod'
import { AccountError } from '../client/account-error.ts'
import { callOperation } from '../client/call.ts'
import { operations } from '../client/operations.ts'
import type { ClientOptions } from '../client/options.ts'

const identity = z.object({ credential: z.object({ scopes: z.array(z.string()) }) })

/** Returns the scopes of the key; undefined if the service does not tell them now. */
export async function scopesOfKey(client: ClientOptions): Promise<readonly string[] | undefined> {
  try {
    const body = await callOperation(operations.getIdentity, {}, client, {})
    return identity.parse(body).credential.scopes
  } catch (error) {
    if (!(error instanceof AccountError)) throw error
    // Only a key for the vault alone cannot ask who it is.
    return error.code === 'insufficient_scope' ? ['vault'] : undefined
  }
}
