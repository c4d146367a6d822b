import { NativeSelect } from '@mantine/core'
import { useFilters } from '../../app/router/search'
import { useText } from '../../i18n/language'
import { useBalancedUnits } from '../../queries/balance'
import { DataTable } from '../../ui/data_table'
import { Page } from '../../ui/page'
import { Ready } from '../../ui/states'
import { useCenterOptions } from '../centers/center_options'
import measuring from '../measuring/measuring.module.css'
import { useBalancedUnitColumns } from './balanced_units'
import { HowToBalance } from './how_to'

/** Units whose transfer and compute a loop at their center balances, each with what it did last. */
export function BalancedUnitsPage() {
  const t = useText()
  const [raw, change] = useFilters(['center'])
  const query = useBalancedUnits(raw.center)
  const centers = useCenterOptions({ none: t('ui.any'), chosen: raw.center })
  const columns = useBalancedUnitColumns()
  return (
    <Page title={t('balance.title')}>
      <p className={measuring.note}>{t('balance.intro')}</p>
      <Ready query={query}>
        <DataTable name="balance" label={t('balance.units')} columns={columns} rows={query.data ?? []} rowKey={(one) => `${one.center}/${one.unit}`}
          tools={
            <NativeSelect label={t('balance.center')} value={raw.center} onChange={(e) => change({ center: e.currentTarget.value })}
              data={centers} />
          }
          empty={<HowToBalance title={t('balance.none')} />} />
      </Ready>
    </Page>
  )
}
