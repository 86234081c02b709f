/** A certificate for trials, with its key, as the library for SMTP brings it. */
import * as z from 'zod'

const moduleSchema = z.object({
  default: z.custom<(options: object) => unknown>((value) => typeof value === 'function'),
})
const pairSchema = z.object({ cert: z.string(), key: z.string() })

export async function trialCertificate(): Promise<{ cert: string; key: string }> {
  const loaded: unknown = await import('smtp-server/lib/tls-options.js')
  return pairSchema.parse(moduleSchema.parse(loaded).default({}))
}
