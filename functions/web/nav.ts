/** What the navigation offers, in its order. Only pages that exist are here. */
export const nav: readonly { path: string; label: string }[] = [
  { path: '', label: 'Overview' },
  { path: '/activity', label: 'Activity' },
  { path: '/deposit', label: 'Deposit' },
  { path: '/security', label: 'Security' },
]
