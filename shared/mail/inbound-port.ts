/** What the receiver of mail asks of the vault. */
import type { Refusal } from '../contract/errors.ts'

/** Takes mail that came in. */
export type InboundPort = {
  /** Whether mail is taken for an address. */
  receives(address: string): Promise<boolean | Refusal>
}
