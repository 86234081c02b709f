/** The running local world: the addresses of its parts, and how it is ended. */
import type { dkimRecordOf } from './bindings.ts'
import type { Merchant } from './chain/merchants.ts'
import type { Chain } from './chain.ts'
import type { Account, ApiKeys } from './demo-owner.ts'
import type { MailCatcher } from './mail.ts'

/** A running local world. */
export type LocalWorld = {
  url: string
  /** Address of the database's API. */
  supabaseUrl: string
  databaseUrl: string
  apiKeys: ApiKeys
  owner: Account & { email: string; password: string }
  shop: Account
  /** Address that has never been paid. */
  payee: string
  chains: readonly Chain[]
  merchant: Merchant
  mail: MailCatcher
  dkim: ReturnType<typeof dkimRecordOf>
  /** Resolves with the reason why the world cannot go on; pending as long as it can. */
  lost: Promise<string>
  stop(): Promise<void>
}
