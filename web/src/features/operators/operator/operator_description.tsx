import { Button } from '@mantine/core'
import { useSession } from '../../../app/session'
import { useText } from '../../../i18n/language'
import { useReadPackage } from '../../../queries/operator_library'
import type { Operator } from '../../../queries/operators'
import { saveFile } from '../../../ui/csv'
import { DataTable } from '../../../ui/data_table'
import { formatBytes, formatShare, nothing } from '../../../ui/format'
import { Facts, Section } from '../../../ui/page'
import { formatFigure, formatSize } from '../../../ui/rates'
import { ErrorState } from '../../../ui/states'
import { Time } from '../../../ui/zone'
import { LongFacts } from '../../measuring/long_facts'
import measuring from '../../measuring/measuring.module.css'
import { manifestOf } from '../manifest'

/** Everything that a manifest says, for people. */
export function OperatorDescription({ operator }: { operator: Operator }) {
  const t = useText()
  const { may } = useSession()
  const isUploaded = operator.origin === 'uploaded'
  const read = useReadPackage()
  return (
    <>
      {read.error ? <ErrorState error={read.error} /> : null}
      <Section title={t('operators.facts')} side={
        <span className={measuring.inline}>
          {isUploaded && may('read_uploads') ? (
            <Button loading={read.isPending} onClick={() => read.mutate({ id: operator.id, version: operator.version }, { onSuccess: (value) =>
              saveFile(`${operator.id}-${operator.version}.json`, JSON.stringify(value, null, 2), 'application/json') })}>{t('operators.package')}</Button>) : null}
          <Button onClick={() => saveFile(`${operator.id}-${operator.version}-manifest.json`, JSON.stringify(manifestOf(operator), null, 2),
            'application/json')}>{t('operators.manifest')}</Button>
        </span>
      }>
        <p style={{ maxWidth: '90ch', marginTop: 0 }}>{operator.description}</p>
        <Facts items={[
          [t('measure.version'), operator.version],
          [t('measure.category'), operator.category],
          [t('operators.origin'), t(`operators.origin.${operator.origin}`)],
          [t('measure.precision'), operator.precision],
          [t('operators.operations'), <code key="o">{operator.operation_count}</code>],
          [t('operators.bytes'), <code key="b">{operator.byte_count}</code>],
          [t('measure.tolerance'), formatFigure(operator.tolerance)],
          [t('measure.created'), <Time key="t" at={operator.created_at} />],
          [t('measure.by'), <code key="c">{operator.created_by}</code>],
          ...(operator.withdrawn_at ? [[t('operators.withdrawn.at'), <Time key="w" at={operator.withdrawn_at} />] as const] : []),
          ...(isUploaded ? [
            [t('operators.key'), <code key="k">{operator.key_id}</code>] as const,
            [t('operators.object'), <code key="s">{operator.object_sha256}</code>] as const,
            [t('operators.object.size'), formatBytes(operator.object_bytes)] as const,
            [t('operators.sandbox.memory'), formatBytes(operator.sandbox?.memory_bytes)] as const,
            [t('operators.sandbox.network'), t(operator.sandbox?.network ? 'ui.yes' : 'ui.no')] as const] : []),
        ]} />
        <LongFacts items={[
          [t('operators.inputs'), operator.inputs.join('; ')],
          [t('operators.outputs'), operator.outputs.join('; ')],
          [t('operators.truth'), operator.truth],
        ]} />
      </Section>
      <Section title={t('operators.parameters')}>
        {operator.parameters.length === 0 ? <p className="dim">{t('operators.parameters.none')}</p> : (
          <DataTable isPlain name="operator-parameters" label={t('operators.parameters')} rows={operator.parameters} rowKey={(p) => p.name} columns={[
            { id: 'name', title: t('operators.parameter'), cell: (p) => <code>{p.name}</code>, csv: (p) => p.name },
            { id: 'what', title: t('operators.what'), cell: (p) => p.description, csv: (p) => p.description },
            { id: 'min', title: t('operators.min'), isNumber: true, cell: (p) => p.min, csv: (p) => p.min },
            { id: 'max', title: t('operators.max'), isNumber: true, cell: (p) => p.max, csv: (p) => p.max },
            { id: 'default', title: t('operators.default'), isNumber: true, cell: (p) => p.default, csv: (p) => p.default },
            { id: 'draw', title: t('operators.draw'), isNumber: true, cell: (p) => (p.draw ? `± ${formatShare(p.draw.share, 2)}` : nothing), csv: (p) => p.draw?.share },
          ]} />)}
      </Section>
      <div className={measuring.split}>
        <Section title={t('operators.classes')}>
          <DataTable isPlain name="operator-classes" label={t('operators.classes')} rows={operator.size_classes} rowKey={(c) => c.name}
            empty={<p className="dim">{t('ui.none')}</p>} columns={[
              { id: 'name', title: t('measure.name'), cell: (c) => c.name, csv: (c) => c.name },
              { id: 'size', title: t('measure.size'), cell: (c) => <code>{formatSize(c.parameters)}</code>, csv: (c) => formatSize(c.parameters) },
            ]} />
        </Section>
        <Section title={t('operators.implementations')}>
          <DataTable isPlain name="operator-implementations" label={t('operators.implementations')} rows={operator.implementations}
            rowKey={(i) => i.resource_type + i.library} columns={[
              { id: 'resource', title: t('operators.resource'), cell: (i) => i.resource_type, csv: (i) => i.resource_type },
              { id: 'library', title: t('operators.library'), cell: (i) => i.library, csv: (i) => i.library },
            ]} />
        </Section>
      </div>
      <Section title={t('operators.signature')}>
        <LongFacts items={[
          [t('operators.symbols'), <code key="s">{operator.signature.symbols.join(', ')}</code>],
          [t('operators.arguments'), <code key="a">{operator.signature.argument_kinds.join(', ')}</code>],
        ]} />
      </Section>
    </>
  )
}
