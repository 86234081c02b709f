/** Entries of the navigation, in their order. */
export const nav: readonly { path: string; label: string }[] = [
  { path: '', label: 'Overview' },
  { path: '/activity', label: 'Activity' },
  { path: '/approvals', label: 'Approvals' },
  { path: '/mandates', label: 'Mandates' },
  { path: '/vault', label: 'Vault' },
  { path: '/mail', label: 'Mail' },
  { path: '/limits', label: 'Limits' },
  { path: '/keys', label: 'API keys' },
  { path: '/apps', label: 'Connected apps' },
  { path: '/recipients', label: 'Recipients and devices' },
  { path: '/deposit', label: 'Deposit' },
  { path: '/security', label: 'Security' },
  { path: '/freeze', label: 'Freeze' },
]
