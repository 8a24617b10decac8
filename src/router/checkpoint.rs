//! Places at which a test stops the program to kill it there: between two steps of an attempt. `THUD_HOLD_AT` names one.
//! Part of no release: it comes with the feature `standins`.

/// Goes on at once, unless it is this place that the environment names: then it says so and never goes on.
#[expect(clippy::print_stdout, reason = "the test listens for it")]
pub async fn reached(place: &str) {
    if std::env::var("THUD_HOLD_AT").is_ok_and(|held| held == place) {
        println!("held at {place}");
        std::future::pending::<()>().await;
    }
}
