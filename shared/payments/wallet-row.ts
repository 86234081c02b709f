/** Parses the wallet of the caller's account. */
import * as z from 'zod'
import { addressSchema } from '../chains/hex.ts'

/** Row of api.get_wallet, as far as payments need it. */
export const walletRow = z.object({ address: addressSchema })
