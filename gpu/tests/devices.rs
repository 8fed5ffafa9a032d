//! The list of devices.

use standoff_gpu::{Device, DeviceError, devices};

/// Every device has a name and either what it lacks or 64-bit floats; the one that is opened is the first.
#[test]
fn devices_are_described() {
    let all = devices();
    for device in &all {
        assert!(!device.name.is_empty() && !device.back_end.is_empty(), "{device:?}");
        assert!(device.lacks.is_some() || device.has_f64 && device.largest_array > 1 << 20);
    }
    match Device::open() {
        Ok(device) => {
            assert_eq!(Some(device.info()), all.first());
            assert!(device.arithmetic().compared > 40_000);
        }
        Err(DeviceError::NoDevice { found }) => {
            assert!(all.iter().all(|d| d.lacks.is_some()));
            standoff_testkit::not_run(&format!("no graphics processor can be used: {found}"));
        }
        Err(other) => panic!("{other}"),
    }
}
