/** Chooses the credential of this program: the API key of the environment, or the login of this computer. */
import { readBaseUrl } from '../client/call.ts'
import type { ClientOptions } from '../client/options.ts'
import { type Call, UsageError } from './command.ts'
import { LoginNeeded, tokenOf } from './oauth.ts'
import { readSession } from './session.ts'

/** Returns address, credential and device; throws LoginNeeded without any. */
export function clientOptions(outside: Pick<Call, 'env' | 'fetch' | 'now'>): ClientOptions {
  const { env } = outside
  const session = readSession(env)
  const device = env['AOA_DEVICE_ID'] ?? session?.device_id
  const own = device === undefined ? {} : { deviceId: device }
  const apiKey = env['AOA_API_KEY']
  if (apiKey === undefined) {
    if (!session) throw new LoginNeeded()
    return { baseUrl: session.base_url, token: tokenOf(outside), ...own }
  }
  const baseUrl = env['AOA_BASE_URL'] ?? session?.base_url
  if (baseUrl === undefined) throw new UsageError('AOA_BASE_URL is missing beside AOA_API_KEY')
  return { baseUrl: readBaseUrl(baseUrl), apiKey, ...own }
}
