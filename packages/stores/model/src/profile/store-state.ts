import type {
  CatalogCoverage,
  Confidence,
  InstallState,
  ObservationScope,
  SignalType,
  StoreStatus,
} from '../resources/enumerations.ts';
import type { Geography, Industry, PriceRange } from '../resources/store.ts';

// The stored state of a store. Times are milliseconds since the epoch.

export interface PlatformState {
  readonly slug: string;
  readonly confidence: Confidence;
  readonly first_observed_at: number;
  readonly last_confirmed_at: number;
}

export interface TechnologyState extends PlatformState {
  readonly install_state: InstallState;
}

interface CatalogState {
  readonly product_count: number;
  readonly available_count: number | null;
  readonly currency: string | null;
  readonly price_range: PriceRange | null;
  readonly as_of: number;
  readonly coverage: CatalogCoverage;
}

export interface StoreState {
  readonly domain: string;
  readonly storefront_host: string;
  readonly storefront_id: string;
  readonly brand_group_id: string | null;
  readonly name: string | null;
  readonly platform: PlatformState | null;
  readonly status: { readonly state: StoreStatus; readonly as_of: number };
  /** At most one for each slug, without the platform. */
  readonly technologies: readonly TechnologyState[];
  readonly geography: Geography;
  readonly industry: Industry;
  readonly catalog: CatalogState | null;
  readonly observation: {
    readonly last_completed_scan_at: number;
    readonly scope: ObservationScope;
    readonly coverage_note: string | null;
  };
  /** Whether any completed observation showed commerce. Without it there is no profile. Spec: S3.29, S3.30. */
  readonly is_ecommerce: boolean;
}

/** A confirmed change. Spec: S9.1. */
export interface Signal {
  readonly id: string;
  readonly type: SignalType;
  readonly technology: string | null;
  readonly from: string | null;
  readonly to: string | null;
  readonly effective_at: number;
  readonly confirmed_at: number;
  readonly confidence: Confidence;
}
