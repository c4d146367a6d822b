import { lazy } from 'react'
import type { PageComponent, Route } from './routes'

function page(load: () => Promise<PageComponent>): Route['page'] {
  return lazy(async () => ({ default: await load() }))
}

/** The pages about what the network offers, who uses it, and who runs it. */
export const manageRoutes: readonly Route[] = [
  { path: '/unit-types', permission: 'read_network', entry: { group: 'network', title: 'units.title' },
    page: page(async () => (await import('../features/unit_types/unit_types_page')).UnitTypesPage) },
  { path: '/unit-types/:id', permission: 'read_network',
    page: page(async () => (await import('../features/unit_types/unit_type_page')).UnitTypePage) },
  { path: '/sub-units', permission: 'read_network', entry: { group: 'network', title: 'subunits.title' },
    page: page(async () => (await import('../features/sub_units/sub_units_page')).SubUnitsPage) },
  { path: '/balance', permission: 'read_network', entry: { group: 'network', title: 'balance.title' },
    page: page(async () => (await import('../features/balance/balanced_units_page')).BalancedUnitsPage) },
  { path: '/balance/:center/:unit', permission: 'read_network',
    page: page(async () => (await import('../features/balance/balance_page')).BalancePage) },
  { path: '/calendar', permission: 'read_network', entry: { group: 'network', title: 'calendar.title' },
    page: page(async () => (await import('../features/calendar/calendar_page')).CalendarPage) },
  { path: '/simulate', permission: 'manage_network', entry: { group: 'network', title: 'simulation.title' },
    page: page(async () => (await import('../features/simulation/simulation_page')).SimulationPage) },
  { path: '/cycles', permission: 'read_all_jobs', entry: { group: 'network', title: 'cycles.title' },
    page: page(async () => (await import('../features/cycles/cycles_page')).CyclesPage) },
  { path: '/cycles/:id', permission: 'read_all_jobs',
    page: page(async () => (await import('../features/cycles/cycle_page')).CyclePage) },
  { path: '/prediction-quality', permission: 'read_network', entry: { group: 'network', title: 'quality.title' },
    page: page(async () => (await import('../features/prediction_quality/prediction_quality_page')).PredictionQualityPage) },
  { path: '/projects', permission: 'read_network', entry: { group: 'accounts', title: 'projects.title' },
    page: page(async () => (await import('../features/projects/projects_page')).ProjectsPage) },
  { path: '/projects/:name', permission: 'read_network',
    page: page(async () => (await import('../features/projects/project_page')).ProjectPage) },
  { path: '/prices', permission: 'read_network', entry: { group: 'accounts', title: 'prices.title' },
    page: page(async () => (await import('../features/prices/prices_page')).PricesPage) },
  { path: '/prices/new', permission: 'manage_prices',
    page: page(async () => (await import('../features/prices/price_edit_page')).PriceEditPage) },
  { path: '/prices/:version', permission: 'read_network',
    page: page(async () => (await import('../features/prices/price_book_page')).PriceBookPage) },
  { path: '/billing', permission: 'read_billing', entry: { group: 'accounts', title: 'billing.title' },
    page: page(async () => (await import('../features/billing/billing_page')).BillingPage) },
  { path: '/users', permission: 'manage_tokens', entry: { group: 'administer', title: 'accounts.title' },
    page: page(async () => (await import('../features/accounts/users_page')).UsersPage) },
  { path: '/tokens', permission: 'manage_tokens', entry: { group: 'administer', title: 'tokens.title' },
    page: page(async () => (await import('../features/accounts/tokens_page')).TokensPage) },
  { path: '/operator-keys', permission: 'manage_operator_keys', entry: { group: 'administer', title: 'keys.title' },
    page: page(async () => (await import('../features/operators/keys/keys_page')).KeysPage) },
  { path: '/authority', permission: 'manage_authority', entry: { group: 'administer', title: 'authority.title' },
    page: page(async () => (await import('../features/authority/authority_page')).AuthorityPage) },
  { path: '/audit-log', permission: 'read_audit_log', entry: { group: 'administer', title: 'audit.title' },
    page: page(async () => (await import('../features/audit_log/audit_log_page')).AuditLogPage) },
  { path: '/settings', permission: 'read_network', entry: { group: 'administer', title: 'settings.title' },
    page: page(async () => (await import('../features/settings/settings_page')).SettingsPage) },
]
