/** The owner's consent to terms that a page shows: by a passkey where the account has one. */
import * as z from 'zod'

/** As private.passkeys_json makes it; binary values in base64url. */
export const passkeyRow = z.object({
  id: z.string(),
  transports: z.array(z.string()),
  public_key: z.string(),
  counter: z.string(),
})
export type PasskeyRow = z.output<typeof passkeyRow>
