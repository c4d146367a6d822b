import type { formsEn } from './text.en'

export const formsZh: Record<keyof typeof formsEn, string> = {
  'form.save': '保存',
  'form.actions': '操作',
  'form.once': '仅显示这一次。请立即复制；服务器不保存明文，无法再次显示。',
  'form.once.done': '我已复制',
  'form.moment.utc': 'UTC 时间',
  'form.moment.local': '本地时间',
}
