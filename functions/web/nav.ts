/** What the navigation offers, in its order. Only pages that exist are here. */
export const nav: readonly { path: string; label: string }[] = [
  { path: '', label: 'Overview' },
  { path: '/deposit', label: 'Deposit' },
]
