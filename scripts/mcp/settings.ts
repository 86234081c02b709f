/** Reads from the environment which account's tools are served. */
import { isApiKey } from '../../shared/auth/api-key.ts'
import { readBaseUrl } from '../client/call.ts'
import type { ClientOptions } from '../client/options.ts'

/** An error that says why nothing can be served, in a sentence without secrets. */
export class SettingsError extends Error {}

/** Reads the variables. Throws a SettingsError that names the one that is wrong. */
export function readMcpSettings(env: Readonly<Record<string, string | undefined>>): ClientOptions {
  const apiKey = given(
    env,
    'AOA_API_KEY',
    "an API key, which the account's owner makes in the web app",
  )
  if (!isApiKey(apiKey)) {
    throw new SettingsError(
      'AOA_API_KEY is not an API key, or not a whole one: aoa_live_ or aoa_test_ and 36 letters and digits.',
    )
  }
  const address = given(env, 'AOA_BASE_URL', 'the address of the service')
  const deviceId = env['AOA_DEVICE_ID']
  return { apiKey, baseUrl: baseUrlOf(address), ...(deviceId ? { deviceId } : {}) }
}

function given(env: Readonly<Record<string, string | undefined>>, name: string, what: string) {
  const value = env[name]?.trim()
  if (!value) throw new SettingsError(`${name} is missing: ${what}.`)
  return value
}

function baseUrlOf(address: string): string {
  try {
    return readBaseUrl(address)
  } catch {
    throw new SettingsError(
      'AOA_BASE_URL is not an address that begins with https://; http:// is for this machine alone.',
    )
  }
}
