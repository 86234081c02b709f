import type { Config } from '../../shared/env.ts'
import type { Owner } from './visit.ts'

/** Entries of the navigation, in their order. `waiting` names the requests whose number stands beside it. */
export const nav: readonly {
  path: string
  label: string
  waiting?: keyof Owner['waiting']
  isOffered?: (config: Config) => boolean
}[] = [
  { path: '', label: 'Overview' },
  { path: '/activity', label: 'Activity' },
  { path: '/approvals', label: 'Approvals', waiting: 'payments' },
  { path: '/mandates', label: 'Mandates', waiting: 'mandates' },
  { path: '/vault', label: 'Vault' },
  { path: '/mail', label: 'Mail' },
  { path: '/yield', label: 'Yield', isOffered: ({ YIELD_VAULTS }) => YIELD_VAULTS !== '{}' },
  { path: '/limits', label: 'Limits' },
  { path: '/keys', label: 'API keys' },
  { path: '/apps', label: 'Connected apps' },
  { path: '/recipients', label: 'Recipients and devices' },
  { path: '/deposit', label: 'Deposit' },
  { path: '/notifications', label: 'Notifications' },
  { path: '/security', label: 'Security' },
  { path: '/freeze', label: 'Freeze' },
]

/** Returns the entries of what these settings offer. */
export function navOf(config: Config) {
  return nav.filter(({ isOffered }) => isOffered?.(config) ?? true)
}
