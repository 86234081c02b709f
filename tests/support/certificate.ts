/** A certificate for trials, with its key, as the library for SMTP brings it. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'

const moduleSchema = z.object({
  default: z.custom<(options: object) => unknown>((value) => typeof value === 'function'),
})
const pairSchema = z.object({ cert: z.string(), key: z.string() })

/** Writes both into a folder and returns their paths. */
export async function trialCertificate(directory: string): Promise<{ cert: string; key: string }> {
  const loaded: unknown = await import('smtp-server/lib/tls-options.js')
  const pair = pairSchema.parse(moduleSchema.parse(loaded).default({}))
  const [cert, key] = [join(directory, 'cert.pem'), join(directory, 'key.pem')]
  writeFileSync(cert, pair.cert)
  writeFileSync(key, pair.key)
  return { cert, key }
}
