import type { auditEn } from './text.en'

export const auditZh: Record<keyof typeof auditEn, string> = {
  'audit.title': '审计日志',
  'audit.actor': '操作者（编号）',
  'audit.who': '操作者',
  'audit.action': '操作',
  'audit.subject': '对象',
  'audit.at': '时间',
  'audit.request': '请求',
  'audit.detail': '详情',
  'audit.detail.none': '无详情',
  'audit.none': '没有符合筛选条件的操作',
  'audit.none.yet': '审计日志为空',
  'audit.none.clear': '清除筛选条件',
  'audit.of.actor': '仅 {actor} 的操作',
  'audit.of.subject': '仅针对 {subject} 的操作',
  'audit.hint': '特权操作，最新在前。点击操作者或对象可查看其全部操作。',
}
