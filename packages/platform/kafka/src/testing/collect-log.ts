import type { KafkaLog } from '../kafka-log.ts';

export interface LogLine {
  readonly level: string;
  readonly message: string;
  readonly details: Readonly<Record<string, unknown>>;
}

/** A log that keeps its lines. */
export function collectLog(): KafkaLog & { readonly lines: LogLine[]; messages(level: string): string[] } {
  const lines: LogLine[] = [];
  const write = (level: string) => (details: Readonly<Record<string, unknown>>, message: string) =>
    void lines.push({ level, message, details });
  return {
    lines,
    messages: (level) => lines.filter((line) => line.level === level).map(({ message }) => message),
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
  };
}
