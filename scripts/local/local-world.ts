/** The local world once it runs: where each of its parts is, and how it is ended. */
import type { dkimRecordOf } from './bindings.ts'
import type { Chain } from './chain.ts'
import type { Account, ApiKeys } from './demo-owner.ts'
import type { MailCatcher } from './mail.ts'
import type { Merchant } from './merchant.ts'

export type LocalWorld = {
  url: string
  /** Of the database's API. */
  supabaseUrl: string
  apiKeys: ApiKeys
  owner: Account & { email: string; password: string }
  shop: Account
  /** Has never been paid. */
  payee: string
  chains: readonly Chain[]
  merchant: Merchant
  mail: MailCatcher
  dkim: ReturnType<typeof dkimRecordOf>
  /** Why the world cannot go on; never settles while it can. */
  lost: Promise<string>
  stop(): Promise<void>
}
