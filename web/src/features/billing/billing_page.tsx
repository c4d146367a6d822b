import { Tabs } from '@mantine/core'
import { useFilters } from '../../app/router/search'
import { useText } from '../../i18n/language'
import { Page } from '../../ui/page'
import { Exports } from './exports'
import { Ledger } from './ledger'
import { Reconciliation } from './reconciliation'
import { Schedules } from './schedules'
import { Statements } from './statements'
import { UsageList } from './usage_list'

const tabs = ['usage', 'statements', 'exports', 'schedules', 'ledger', 'reconcile'] as const
type Tab = (typeof tabs)[number]
const parts: Record<Tab, React.ComponentType> = { usage: UsageList, statements: Statements, exports: Exports, schedules: Schedules, ledger: Ledger, reconcile: Reconciliation }

/** What was used, what it costs, and who owes whom. */
export function BillingPage() {
  const t = useText()
  const [raw, change] = useFilters(['tab'])
  const tab = tabs.find((name) => name === raw.tab) ?? 'usage'
  const Part = parts[tab]
  return (
    <Page title={t('billing.title')}>
      <Tabs value={tab} onChange={(value) => change({ tab: value === 'usage' || value === null ? '' : value })}>
        <Tabs.List mb="md" aria-label={t('billing.tabs')}>
          {tabs.map((name) => <Tabs.Tab key={name} value={name}>{t(`billing.tab.${name}`)}</Tabs.Tab>)}
        </Tabs.List>
        <Tabs.Panel value={tab}><Part /></Tabs.Panel>
      </Tabs>
    </Page>
  )
}
