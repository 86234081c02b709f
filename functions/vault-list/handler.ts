import type { Handler } from '../../shared/http/handler.ts'
import { listEntries } from '../../shared/vault/entries/list-entries.ts'
import type { vaultList } from './contract.ts'

export const run: Handler<typeof vaultList> = (page, context) => listEntries(context, 'vault', page)
